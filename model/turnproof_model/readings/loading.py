"""
Load the rules of a contract once more, over another algebra or with a deliberate change in their source.

The one door through which the project executes source text of its own. Rule modules import their queues and batches
from ``turnproof_model.algebra``; loaded here they get them from whatever stands in its place, and everything else from
the real modules. Loaded modules are never entered into ``sys.modules``. Their source is registered with ``linecache``,
so tracebacks and debuggers show the lines that ran, changes included.
"""

from __future__ import annotations

import builtins
import linecache
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, TypeAlias

from attrs import frozen

from turnproof_model import algebra as concrete
from turnproof_model.contracts import CONTRACTS
from turnproof_model.readings.entries import NOTE, altered, noting
from turnproof_model.rulebook import RuleBook

MODULES: Mapping[str, tuple[str, ...]] = {
    "window": ("window_state", "window_steps", "window_commands", "window"),
    "claim": ("claim_state", "claim_tools", "claim_commands", "claim_steps", "claim"),
}
"""The rule modules of each contract, each after those that it imports."""

ALGEBRA = concrete.__name__
PACKAGE = ALGEBRA.rpartition(".")[0]


@frozen
class Change:
    """Be one change of a rule module: text that occurs exactly once, and what stands in its place."""

    module: str
    old: str
    new: str


class ChangeError(ValueError):
    """Say that a change doesn't apply to the rules as they are."""

    def __init__(self, change: Change, found: int) -> None:
        super().__init__(
            f"a change needs its text exactly once in {change.module!r} (found {found} times): {change.old!r}; "
            "bring it up to date with the rules"
        )
        self.change = change
        self.found = found


Enter: TypeAlias = Callable[[str], None]
"""Is told which function of the rules is entered, as ``MODULE.FUNCTION``."""


def load_rules(
    contract: str, *, algebra: Any = concrete, changes: Sequence[Change] = (), enter: Enter | None = None
) -> RuleBook[Any]:
    """
    Execute the rule modules of a contract over an algebra.

    Args:
        contract: ``window`` or ``claim``.
        algebra: a module or namespace with the names that rule modules import from ``turnproof_model.algebra``.
        changes: applied to the source in this order.
        enter: is told of each function of the rules that is entered, if anybody is.

    Raises:
        ValueError: there is no such contract.
        ChangeError: a change doesn't apply.
    """
    if contract not in CONTRACTS:
        raise ValueError(f"a contract is one of {', '.join(CONTRACTS)} (got {contract!r})")
    loaded: dict[str, Any] = {ALGEBRA: algebra}
    for name in MODULES[contract]:
        mine = tuple(change for change in changes if change.module == name)
        code = _compiled(contract, name, mine, noted=enter is not None)
        loaded[f"{PACKAGE}.{name}"] = _execute(name, code, _importer(loaded), enter)
    book: RuleBook[Any] = loaded[f"{PACKAGE}.{contract}"].BOOK
    return book


def source_of(module: str, changes: Sequence[Change] = ()) -> str:
    """
    Read the source of a rule module, changed.

    Raises:
        ChangeError: a change doesn't apply.
    """
    text = resources.files(PACKAGE).joinpath(f"{module}.py").read_text(encoding="utf-8")
    for change in changes:
        if text.count(change.old) != 1:
            raise ChangeError(change, text.count(change.old))
        text = text.replace(change.old, change.new)
    return text


def changed_functions(contract: str, changes: Sequence[Change]) -> frozenset[str] | None:
    """
    Name the functions that changes give another body, as ``MODULE.FUNCTION``.

    Returns:
        Their names; nothing where changes do more than that, so that anything may be different.

    Raises:
        ChangeError: a change doesn't apply.
    """
    names: set[str] = set()
    for module in MODULES[contract]:
        mine = tuple(change for change in changes if change.module == module)
        found = altered(source_of(module), source_of(module, mine), module) if mine else frozenset()
        if found is None:
            return None
        names |= found
    return frozenset(names)


@cache
def _compiled(contract: str, module: str, changes: tuple[Change, ...], *, noted: bool) -> CodeType:
    text = source_of(module, changes)
    changed = f", changed ({zlib.crc32(text.encode()):08x})" if changes else ""
    filename = f"<rules of {contract}: {module}{changed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return compile(noting(text, module) if noted else text, filename, "exec", dont_inherit=True)


def _execute(name: str, code: CodeType, importer: Callable[..., Any], enter: Enter | None) -> ModuleType:
    module = ModuleType(f"{PACKAGE}.{name}")
    vars(module)["__builtins__"] = {**vars(builtins), "__import__": importer, NOTE: enter}
    exec(code, vars(module))  # noqa: S102  # the one door: sources of this package, changed only by our own faults
    return module


def _importer(loaded: Mapping[str, Any]) -> Callable[..., Any]:
    """Make the import function of loaded modules: what is loaded comes from here, the rest from where it lives."""

    def load(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  # the signature of __import__
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        if name in loaded:
            return loaded[name]
        real = __import__(name, globals, locals, fromlist, level)
        if name != PACKAGE:
            return real
        mine = {part: loaded[f"{PACKAGE}.{part}"] for part in fromlist if f"{PACKAGE}.{part}" in loaded}
        return SimpleNamespace(**{part: mine.get(part) or getattr(real, part) for part in fromlist})

    return load
