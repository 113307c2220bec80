"""Random pods, probes and scripts of a scenario."""

from random import Random
from typing import Any

Made = dict[str, Any]

PERIOD_MAX = {2_000: 2, 30_000: 7, 3_600_000: 7}
"""The longest period by the age of the prober in ms: with a longer one the kubelet would jitter the first run."""

COMMAND_WORDS = ["$(A)", "$$(A)", "x$(B)y", "$(NO)", "$(A)$(B", "100%"]
OUTPUTS = ["out", "100% %s %d", "é€", "a\nb\n", "\x00\x01", "x" * 50]
ERRORS = ["boom", "rpc error: code = NotFound desc = no such container", "%d% !"]


def pod_of(dice: Random, index: int, period_max: int, scripts: dict[str, list[Made]]) -> Made:
    """Makes a pod of up to three containers and two init containers; ``scripts`` gets the outcomes of its probes."""
    name = "pqr"[index]
    containers = [_container(dice, letter) for letter in "abc"[: dice.randint(1, 3)]]
    init = [_init_container(dice, letter) for letter in "st"[: dice.choice([0, 0, 0, 1, 2])]]
    for container in containers + init:
        is_plain_init = container in init and "restartPolicy" not in container
        if is_plain_init and dice.random() < 0.8:
            continue
        for probe_type in ("startup", "readiness", "liveness"):
            if dice.random() < 0.5:
                continue
            container[f"{probe_type}Probe"] = _probe(dice, [name, container["name"], probe_type], period_max)
            if dice.random() < 0.85:
                key = f"{name}/{container['name']}/{probe_type}"
                scripts[key] = [_outcome(dice) for _ in range(dice.randint(1, 10))]
    spec: Made = {"containers": containers, "restartPolicy": dice.choice(["Always", "Always", "OnFailure", "Never"])}
    pod: Made = {"name": name, "namespace": "ns", "uid": f"{name}-uid", "spec": spec}
    if init:
        spec["initContainers"] = init
    if dice.random() < 0.15:
        pod["api_condition_ready"] = True
    if dice.random() < 0.05:
        pod["deletion_timestamp_ms"] = 0
    return pod


def _container(dice: Random, name: str) -> Made:
    container: Made = {"name": name, "image": "i"}
    if dice.random() < 0.25:
        container["restartPolicy"] = dice.choice(["Always", "OnFailure", "Never"])
        if dice.random() < 0.5:
            codes = {
                "operator": dice.choice(["In", "NotIn"]),
                "values": dice.sample([0, 1, 42, 137], dice.randint(1, 3)),
            }
            action = dice.choice(["Restart", "Restart", "RestartAllContainers"])
            container["restartPolicyRules"] = [{"action": action, "exitCodes": codes}]
    if dice.random() < 0.3:
        container["env"] = [{"name": "A", "value": "va"}, {"name": "B", "value": "$(A)b"}]
    return container


def _init_container(dice: Random, name: str) -> Made:
    container: Made = {"name": name, "image": "i"}
    if dice.random() < 0.75:
        container["restartPolicy"] = "Always"
    return container


def _probe(dice: Random, words: list[str], period_max: int) -> Made:
    # Always set a period: a young prober jitters the first run of the default, ten seconds.
    probe: Made = {"periodSeconds": dice.randint(1, period_max)}
    fields = {"timeoutSeconds": (1, 4, 0.7), "failureThreshold": (1, 4, 0.6), "initialDelaySeconds": (0, 6, 0.4)}
    if words[-1] == "readiness":
        fields["successThreshold"] = (1, 4, 0.6)
    probe |= {field: dice.randint(low, high) for field, (low, high, share) in fields.items() if dice.random() < share}
    if dice.random() < 0.08:
        probe["exec"] = {"command": ["probe", *words, dice.choice(COMMAND_WORDS)]}
    return probe


def _outcome(dice: Random) -> Made:
    [kind] = dice.choices(["success", "failure", "error", "timeout", "hang"], [8, 6, 2, 1.5, 1.5])
    outcome: Made = {"outcome": kind}
    if kind == "hang":
        outcome["hang_ms"] = dice.randint(1, 4_500)
        if dice.random() < 0.2:
            outcome["ignore_timeout"] = True
    elif dice.random() < 0.25:
        outcome["delay_ms"] = dice.choice([0, 1, dice.randint(1, 3_000), dice.randint(1, 30), 1_000, 2_000])
    if dice.random() < 0.3:
        outcome["repeat"] = dice.randint(1, 4)
    if kind in ("failure", "success") and dice.random() < 0.3:
        outcome["output"] = dice.choice(OUTPUTS)
        if dice.random() < 0.06:
            outcome["output_repeat"] = dice.choice([20, 300, 4_000])
    if kind == "failure" and dice.random() < 0.2:
        outcome["exit_code"] = dice.choice([2, 126, 137, 255])
    if kind == "success" and dice.random() < 0.05:
        outcome["exit_code"] = 0
    if kind == "error" and dice.random() < 0.3:
        outcome["error"] = dice.choice(ERRORS)
    return outcome
