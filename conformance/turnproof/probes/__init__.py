"""
Probes of a driver: small conversations that show whether it keeps the protocol, whatever its agent does.
"""

from __future__ import annotations

from turnproof.probes import conversation, gates, replay, scheduling
from turnproof.probes.bench import ProbeSpec
from turnproof.probes.capabilities import PROBES as DECLARED
from turnproof.probes.undeclared import PROBES as UNDECLARED

PROBES: tuple[ProbeSpec, ...] = (
    conversation.initialize_form,
    conversation.initialize_version,
    conversation.unknown_method,
    conversation.bad_parameters,
    conversation.unknown_gate,
    conversation.any_text,
    conversation.long_text,
    conversation.settled,
    conversation.reset_empty,
    conversation.lanes_apart,
    gates.default_gates,
    gates.gate_ids,
    gates.select,
    gates.release_by_id,
    gates.release_by_kind,
    gates.abort_settles,
    gates.abort_parks,
    scheduling.one_stack,
    scheduling.refusal_in_batch,
    scheduling.arm_inside,
    scheduling.arm_once,
    scheduling.arm_nth,
    scheduling.arm_where,
    scheduling.arm_defer,
    scheduling.arm_defer_order,
    scheduling.arm_nested,
    scheduling.arm_dies,
    *DECLARED,
    *UNDECLARED,
    replay.no_leak,
    replay.same_process,
    replay.fresh_process,
    replay.shutdown,
)
"""All probes, in the order in which they are run."""
