"""Latencies of clients in answers of Prometheus: which series count, and for which workload."""

from typing import Any

from probelet.lint.observed.clients import clients_by_prometheus
from probelet.lint.observed.container import ObservedClients
from probelet.lint.observed.match import Observations

ISTIO = "istio_request_duration_milliseconds_bucket"
NGINX = "nginx_ingress_controller_request_duration_seconds_bucket"


def answer(*series: tuple[str, float, dict[str, str]]) -> dict[str, Any]:
    result = [{"metric": {"__name__": name, **labels}, "value": [1, str(value)]} for name, value, labels in series]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def istio(bound: str, value: float, **labels: str) -> tuple[str, float, dict[str, str]]:
    target = {"reporter": "destination", "destination_workload": "web", "destination_workload_namespace": "shop"}
    return ISTIO, value, {**target, "le": bound, **labels}


def test_istio_counts_milliseconds_at_the_destination_over_all_codes() -> None:
    found = answer(
        istio("1000", 100, response_code="200"),
        istio("5000", 100, response_code="200"),
        istio("+Inf", 100, response_code="200"),
        istio("1000", 0, response_code="503"),
        istio("5000", 10, response_code="503"),
        istio("+Inf", 10, response_code="503"),
        istio("1000", 0, reporter="source"),
        istio("+Inf", 999, reporter="source"),
        istio("+Inf", 999, destination_workload=""),
    )
    assert list(clients_by_prometheus([found])) == [ObservedClients("shop", "web", "", 5.0, 110)]


def test_an_ingress_counts_for_its_service() -> None:
    labels = {"exported_namespace": "shop", "namespace": "ingress", "exported_service": "front", "service": "nginx"}
    found = answer((NGINX, 50, {**labels, "le": "0.5"}), (NGINX, 50, {**labels, "le": "+Inf"}))
    assert list(clients_by_prometheus([found])) == [ObservedClients("shop", "", "front", 0.5, 50)]


def test_clients_belong_to_a_workload_by_its_name_or_its_services() -> None:
    by_workload, by_service = ObservedClients("shop", "web", "", 1, 9), ObservedClients("shop", "", "front", 1, 9)
    observations = Observations([by_workload, by_service])
    assert observations.clients("shop", "web", ["front"]) == [by_workload, by_service]
    assert observations.clients("", "web", []) == [by_workload]
    assert observations.clients("other", "web", ["front"]) == []
    assert observations.clients("shop", "web-api", ["back"]) == []
