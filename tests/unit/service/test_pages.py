"""The pages of ``serve``: the kubelet's metrics, our own, and the status document of the pods handed over."""

import asyncio
import json
import re
from contextlib import closing
from pathlib import Path

import msgspec
from probelet._rust import Engine
from probelet.host.engine_host import EngineHost
from probelet.server.address import listening_socket, parse_address
from probelet.server.document.status import StatusDocument
from probelet.server.pages.server import HttpServer
from probelet.service.server import prober_service
from probelet.service.view import PagesView, render

from tests.support.paths import ROOT
from tests.unit.service.caller import Caller, ExecResponder, exec_probe, make_pod, running, until_result


async def test_the_pages_show_the_pods_that_were_handed_over(tmp_path: Path) -> None:
    with closing(Engine(start_jitter=False, glue=False)) as engine:
        host = EngineHost(engine, "node-a")
        async with prober_service(tmp_path / "s", host) as prober:
            listening = listening_socket(parse_address("127.0.0.1:0"))
            server = HttpServer(PagesView(host, prober, {"schema": "probelet-config/1"}), listening)
            await server.start()
            caller = Caller(tmp_path / "s")
            responder = ExecResponder(caller, code=0)
            await caller.set_pod_status("early", {})
            await caller.sync(make_pod(readinessProbe=exec_probe()), running())
            await until_result(caller.watch_results(), ("readiness", "test://1", "SUCCESS"))

            async def page(path: str, accept: str = "*/*") -> tuple[int, str]:
                reader, writer = await asyncio.open_connection(*listening.sock.getsockname())
                writer.write(f"GET {path} HTTP/1.0\r\nAccept: {accept}\r\n\r\n".encode())
                head, _, body = (await reader.read()).partition(b"\r\n\r\n")
                writer.close()
                return int(head.split()[1]), body.decode()

            code, text = await page("/statusz")
            document = json.loads(text)
            assert msgspec.convert(document, StatusDocument) == document
            assert (code, document["schema"], document["node"]) == (200, "probelet-status/1", "node-a")
            early, pod = document["pods"]
            assert (early["uid"], early["name"], early["phase"], early["containers"]) == ("early", "", "Pending", [])
            assert (pod["namespace"], pod["name"], pod["phase"], pod["ip"]) == (
                "default",
                "pod-u",
                "Running",
                "127.0.0.1",
            )
            [app] = pod["containers"]
            assert (app["name"], app["container_id"], app["state"], app["started"]) == (
                "app",
                "test://1",
                "running",
                True,
            )
            readiness = app["probes"]["readiness"]
            assert (readiness["handler"], readiness["result"], readiness["failures"]) == ("exec", "Success", 0)
            assert readiness["last"]["cause"] == "ok"

            assert readiness["beats"].startswith(".")
            rows = json.loads((await page("/heartbeats"))[1])["rows"]
            assert [probe["says"] for row in rows for one in row["containers"] for probe in one["probes"]] == ["passes"]
            assert (
                'prober_probe_total{container="app",namespace="default",pod="pod-u"'
                in (await page("/metrics/probes"))[1]
            )
            metrics = (await page("/metrics"))[1]
            for series in ("probelet_workers 1", "probelet_pods_handed_over 2", "probelet_results_cached 1"):
                assert f"\n{series}\n" in metrics
            described = (ROOT / "docs" / "serve.md").read_text()
            for series in re.findall(r"# TYPE (\w+) ", render(prober).decode()):
                assert f"| `{series}` |" in described
            for path, message in (("/healthz", "ok\n"), ("/readyz", "ok\n"), ("/metrics/pods", "")):
                assert await page(path) == (200, message)
            assert json.loads((await page("/configz"))[1]) == {"schema": "probelet-config/1"}
            await responder.gone()
            await caller.channel.close()
            await server.close()
