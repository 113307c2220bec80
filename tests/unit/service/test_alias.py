"""The service has a second name, for stubs that are beside the installed probelet."""

from probelet.service.server import ALIAS, SERVICE
from probelet.service.v1 import prober_pb2 as pb

from tests.support.paths import ROOT
from tests.unit.service.caller import Caller, ExecResponder, exec_probe, make_pod, named, running, until_result


async def test_both_names_answer_with_the_same_messages(caller: Caller) -> None:
    responder = ExecResponder(caller, code=0)
    await caller.sync(make_pod(livenessProbe=exec_probe()), running())
    await until_result(caller.watch_results(), ("liveness", "test://1", "SUCCESS"))
    answers = []
    for name in (SERVICE.full_name, ALIAS):
        call = caller.channel.unary_unary(
            f"/{name}/ListResults",
            request_serializer=pb.ListResultsRequest.SerializeToString,
            response_deserializer=pb.ListResultsResponse.FromString,
        )
        answers.append(named((await call(pb.ListResultsRequest())).results))
    assert answers == [{("liveness", "test://1"): "SUCCESS"}] * 2
    await responder.gone()


def test_the_two_files_differ_in_their_package_alone() -> None:
    ours = (ROOT / "proto" / "probelet" / "v1" / "prober.proto").read_text().splitlines()
    theirs = (ROOT / "proto" / "probeletapi" / "v1" / "prober.proto").read_text().splitlines()
    differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    assert [line.split()[0] for line, _ in differing] == ["package", "option"]
    assert differing[0][1] == f"package {ALIAS.rpartition('.')[0]};"
