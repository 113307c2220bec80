"""Pods about their containers: init containers, sidecars, images, environment."""

from tests.kubelet.beside.pods.make import TARGET, answers, command, container, pod

SIDECAR = [
    container(
        "--http",
        "8080",
        "--term",
        "600",
        name="side1",
        restartPolicy="Always",
        startupProbe=answers("s1", "500x2,200", failureThreshold=10),
        readinessProbe=answers("r1", "200"),
    ),
    container(
        "--http",
        "8081",
        "--term",
        "600",
        name="side2",
        restartPolicy="Always",
        livenessProbe=answers("l2", "200x8,500x1,500,500,200", 8081, failureThreshold=2),
        lifecycle={"preStop": command("hook", "0@500")},
    ),
]

INIT = [
    pod(
        "init-in-order",
        container(),
        init=[container("--exit", "1200", name="one"), container("--exit", "800", name="two")],
    ),
    pod(
        "init-fails",
        container(),
        init=[container("--exit", "500", "--code", "3", name="one"), container("--exit", "100", name="two")],
    ),
    pod(
        "init-fails-never",
        container(),
        init=[container("--exit", "500", "--code", "3", name="one")],
        restartPolicy="Never",
    ),
    pod(
        "sidecars",
        container("--http", "8082", "--term", "1500", readinessProbe=answers("r", "200", 8082)),
        init=SIDECAR,
        terminationGracePeriodSeconds=15,
    ),
    pod(
        "sidecar-of-a-job",
        container("--http", "8082", "--exit", "3000"),
        init=[container("--http", "8080", "--term", "600", "--term-code", "7", name="side", restartPolicy="Always")],
        restartPolicy="Never",
    ),
]

ENVIRONMENT = [
    {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "EXPANDED", "value": "$(NODE)-$$(X)-$(NONE)"},
]

STARTS = [
    pod("no-command", {**container(), "command": ["/nope"]}),
    pod("no-image", {**container(), "image": "docker.io/probelet/none:1", "imagePullPolicy": "Never"}),
    pod("environment", container(env=ENVIRONMENT, ports=[{"containerPort": 8080}])),
    pod(
        "command-of-its-own",
        {**container(), "command": [TARGET], "args": ["serve", "--http", "8080"], "workingDir": "/tmp"},
        container(
            "--http", "8081", name="second", securityContext={"runAsUser": 65534, "readOnlyRootFilesystem": True}
        ),
    ),
]

PODS = [*INIT, *STARTS]
