"""
The HTML page: valid, whole in itself, usable by keyboard and on a phone, and safe from what candidates say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from finished_runs import FAULT, KNOWN, NASTY, failure, finished
from playwright.sync_api import Browser, Page

from turnproof.evidence import Evidence, Step
from turnproof.expectations import Expectation, assess
from turnproof.results import Coverage, RunResult
from turnproof_model import vocabulary as v
from turnproof_model.events import AgentError, TurnStart
from turnproof_model.observation import Implementation, Observation
from turnproof_model.surroundings import Demand
from turnproof_reports.page import html_report


def nasty_run() -> RunResult:
    """A run of which every part that a candidate can write is hostile."""
    observed = Observation((AgentError(1, 1, NASTY),))
    step = Step(v.followup(v.Message(NASTY, NASTY)), (Demand(TurnStart(1), ("C-TURN-1",)),), observed)
    evidence = Evidence((step,), "events", 0, NASTY, NASTY, (("C-SEND-2", NASTY),))
    broken = failure("C-SEND-2", name=f"C-SEND-2-{NASTY}", file=NASTY, evidence=evidence, reproduced=False)
    broken = evolve(broken, score=NASTY, text=NASTY)
    run = finished(
        broken,
        failure("C-DIS-1"),
        passed=("C-SEND-1", "C-CAN-1"),
        not_exercised=("C-WAKE-1",),
        driver_faults=(FAULT,),
        capabilities=(NASTY,),
        environment={"turnproof": "0", "python": NASTY},
        latitude={"after-reject": ["park"], NASTY: [NASTY]},
        coverage={"transitions": Coverage(57, 59, (NASTY, "b"))},
        candidate=NASTY,
    )
    return evolve(run, agent=Implementation("<script>", NASTY, NASTY, NASTY))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, broken_run: RunResult) -> dict[str, Path]:
    """Pages of a real run, of a run without failures, and of hostile words."""
    folder = tmp_path_factory.mktemp("pages")
    runs = {
        "real": assess(broken_run),
        "clean": assess(finished()),
        "nasty": assess(nasty_run(), [KNOWN, Expectation("C-CAN-1", NASTY)]),
    }
    out = {}
    for name, assessment in runs.items():
        out[name] = folder / f"{name}.html"
        out[name].write_text(html_report(assessment), encoding="utf-8")
    return out


@pytest.fixture
def visit(browser: Browser, pages: dict[str, Path]) -> Callable[..., tuple[Page, list[str]]]:
    """Open a page; what the console says and what leaves the page is collected."""
    contexts = []

    def visit(name: str, fragment: str = "", **options) -> tuple[Page, list[str]]:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        told: list[str] = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: told.append(dialog.message))
        page.on("request", lambda request: told.append(request.url) if request.resource_type != "document" else None)
        page.goto(pages[name].as_uri() + fragment)
        return page, told

    yield visit
    for context in contexts:
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["real", "clean", "nasty"])
def test_the_page_is_valid_html(pages: dict[str, Path], validate_html: Callable[[Path], str], name: str) -> None:
    assert validate_html(pages[name]) == ""


@pytest.mark.parametrize("name", ["real", "clean", "nasty"])
def test_the_page_loads_and_runs_without_an_error_or_a_request(visit: Callable, name: str) -> None:
    page, told = visit(name)

    page.wait_for_load_state("networkidle")
    assert told == []


@pytest.mark.parametrize("name", ["real", "clean", "nasty"])
def test_the_page_names_no_address_to_load_from(pages: dict[str, Path], name: str) -> None:
    text = pages[name].read_text(encoding="utf-8")

    assert not re.search(r"<(?:link|img|iframe|object|embed)|<script[^>]+src|url\(|@import", text)


def test_what_a_candidate_says_stays_text(visit: Callable) -> None:
    page, told = visit("nasty")

    assert page.locator("h1").inner_text().startswith("<script>")
    assert page.evaluate("document.scripts.length") == 1
    assert told == []


def test_filters_show_the_rules_of_one_outcome_and_all_again(visit: Callable) -> None:
    page, _ = visit("real")
    shown = page.locator("details.rule:visible")
    whole = shown.count()

    page.get_by_role("button", name=re.compile("^failed")).click()
    failed = shown.count()

    assert 0 < failed < whole
    assert page.locator("details.rule.failed:visible").count() == failed
    assert page.locator("#count").inner_text() == f"{failed} rules"
    page.get_by_role("button", name=re.compile("^all")).click()
    assert shown.count() == whole


def test_the_search_field_finds_by_id_and_by_word(visit: Callable) -> None:
    page, _ = visit("real")

    page.keyboard.press("/")
    page.keyboard.type("w-adm-7")

    assert page.locator("details.rule:visible").evaluate_all("rules => rules.map(rule => rule.id)") == ["W-ADM-7"]


def test_a_failure_is_drawn_with_its_first_difference(visit: Callable) -> None:
    page, _ = visit("real")
    drawing = page.locator(".failure svg").first

    assert drawing.is_visible()
    assert drawing.locator(".head").all_text_contents() == ["caller", "inbox", "driver", "model", "tools"]
    assert drawing.locator(".event.expected").count() == drawing.locator(".event.observed").count() == 1
    assert "first difference" in drawing.locator(".band").text_content()


def test_a_link_to_a_rule_opens_it_although_a_filter_hid_it(visit: Callable) -> None:
    page, _ = visit("real")
    page.get_by_role("button", name=re.compile("^passed")).click()
    link = page.locator(".rule-link").first

    link.click()

    rule = page.locator("#" + link.inner_text())
    assert rule.get_attribute("open") is not None
    assert rule.locator(".statement").is_visible()


def test_an_address_of_a_rule_opens_the_page_there(visit: Callable) -> None:
    page, _ = visit("real", "#W-ADM-7")

    assert page.locator("#W-ADM-7 .statement").is_visible()


def test_the_keyboard_reaches_filters_and_opens_rules(visit: Callable) -> None:
    page, _ = visit("real")
    page.locator("#find").focus()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.locator("details.rule").first.get_attribute("open") is not None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_its_width_in_both_schemes(visit: Callable, width: int, scheme: str) -> None:
    page, told = visit("nasty", viewport={"width": width, "height": 800}, color_scheme=scheme)

    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert told == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(visit: Callable, scheme: str) -> None:
    """WCAG 2 asks for a contrast of 4.5 to 1."""
    page, _ = visit("nasty", color_scheme=scheme)

    assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (text) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a] = parse(getComputedStyle(at).backgroundColor);
      if (a === 255) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg, script, style")) continue;
    const own = [...element.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [one, other] = [luminance(parse(getComputedStyle(element).color).slice(0, 3)), luminance(ground(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) poor.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}"""
