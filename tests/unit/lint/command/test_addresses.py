"""Which host a command asks, and whether that is its own container: a case a row, for each client's syntax."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from probelet.lint.command.address import CLIENTS
from probelet.lint.command.host import ITSELF, hosts
from probelet.lint.facts.asked import asked
from probelet.lint.model.workload import LintProbe, Scope
from probelet.lint.read.manifest import read_source
from probelet.lint.read.source import Source
from probelet.lint.settings import Settings

SELF = [ITSELF]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # Go: net.Dial, and the names of gRPC (doc/naming.md). An empty host is the local machine.
        ("grpc_health_probe -addr=:5050", SELF),
        ("grpc_health_probe --addr=:8080 -rpc-timeout=5s", SELF),
        ("/bin/grpc_health_probe -addr :5050", SELF),
        ("grpc_health_probe-linux-amd64 -addr=localhost:5050", ["localhost"]),
        ("grpc_health_probe -addr=[::1]:5050", ["::1"]),
        ("grpc_health_probe -addr=unix:///run/app.sock", SELF),
        ("grpc_health_probe -addr=unix:/run/app.sock", SELF),
        ("grpc_health_probe -addr=dns:///orders:5050", ["orders"]),
        ("grpc_health_probe -addr=dns://10.0.0.10/orders:5050", ["orders"]),
        ("grpc_health_probe -addr=dns:orders:5050", ["orders"]),
        ("grpc_health_probe -addr=passthrough:///orders:5050", ["orders"]),
        ("grpc_health_probe -addr=$POD_IP:5050", ["$POD_IP"]),
        ("grpcurl -plaintext -d {} localhost:5050 grpc.health.v1.Health/Check", ["localhost"]),
        # curl.1
        ("curl -sf http://localhost:8080/healthz", ["localhost"]),
        ("curl http://:80/", SELF),
        ("curl http:///healthz", SELF),
        ("curl -m 2 -o /dev/null -w %{http_code} orders:8080/healthz", ["orders"]),
        ("curl -H Host:orders 127.0.0.1", ["127.0.0.1"]),
        ("curl --fail --url http://orders/", ["orders"]),
        ("curl --unix-socket /run/docker.sock http://docker/_ping", SELF),
        ("curl -sS --unknown-option value http://[::1]:80/", ["::1"]),
        ("curl https://user:pass@orders:8443/x?y=z@w", ["orders"]),
        ("curl http://${POD_IP}:8080/healthz", ["${POD_IP}"]),
        ("curl http://localhost:$PORT/healthz", ["localhost"]),
        ("curl http://localhost:${PORT:-8080}/healthz", ["localhost"]),
        ("curl http://$HOSTNAME.web.shop.svc:8080/", ["$HOSTNAME.web.shop.svc"]),
        ("curl --resolve web:443:127.0.0.1 https://web/", SELF),
        ("curl --connect-to ::localhost:8443 https://web/", SELF),
        ("curl --resolve web:443:10.0.0.7 https://web/", ["web"]),
        ("curl --retry 3 --connect-timeout 2 http://orders http://stock", ["orders", "stock"]),
        ("curl --version", []),
        # wget.1, BusyBox's wget
        ("wget -qO- http://127.0.0.1:8080/", ["127.0.0.1"]),
        ("wget -q -O /dev/null localhost:8080/health", ["localhost"]),
        ("wget --spider -T 2 -t 1 http://orders:8080", ["orders"]),
        ("wget -Y off http://localhost/", ["localhost"]),
        # HTTPie
        ("http GET :8080/health", SELF),
        ("http orders/health", ["orders"]),
        # nc.1 of OpenBSD, of BusyBox, ncat.1
        ("nc -z localhost 5432", ["localhost"]),
        ("nc -zv -w 2 orders 5432", ["orders"]),
        ("nc -zw3 orders 5432", ["orders"]),
        ("nc -vz 127.0.0.1 9092", ["127.0.0.1"]),
        ("nc -U /run/app.sock", SELF),
        ("nc -z $ORDERS_HOST $ORDERS_PORT", ["$ORDERS_HOST"]),
        ("nc -l 8080", []),
        ("nc 0 2181", SELF),
        ("telnet orders 25", ["orders"]),
        ("ping -c 1 -W 2 orders", ["orders"]),
        ("dig @127.0.0.1 -p 53 example.org", ["127.0.0.1"]),
        # redis-cli --help
        ("redis-cli ping", []),
        ("redis-cli -h orders -p 6379 -a word ping", ["orders"]),
        ("redis-cli -s /run/redis.sock ping", SELF),
        ("redis-cli -u redis://u:p@orders:6379/0 ping", ["orders"]),
        ("valkey-cli -h127.0.0.1 ping", ["127.0.0.1"]),
        # mysql.1, mysqladmin.1
        ("mysqladmin ping", []),
        ("mysqladmin ping -h localhost -u root -pword", ["localhost"]),
        ("mysqladmin -horders ping", ["orders"]),
        ("mysql --host=orders -e 'select 1'", ["orders"]),
        ("mysqladmin --socket=/run/mysqld.sock ping", SELF),
        ("mariadb-admin -S /run/mysqld.sock ping", SELF),
        # psql, pg_isready, and the connection strings of libpq
        ("pg_isready", []),
        ("pg_isready -U web -d orders -t 5", []),
        ("pg_isready -d host=orders", ["orders"]),
        ("pg_isready --dbname=postgres", []),
        ("pg_isready -h /var/run/postgresql", SELF),
        ("pg_isready -h orders-0,orders-1", ["orders-0", "orders-1"]),
        ("psql -d postgresql://u@orders/db -c 'select 1'", ["orders"]),
        ("psql 'host=orders user=u' -c 'select 1'", ["orders"]),
        ("psql -U postgres orders -c 'select 1'", []),
        # mongosh, mongo: [db address]
        ("mongosh --eval 'db.runCommand({ping: 1})'", []),
        ("mongosh admin --quiet --eval x", []),
        ("mongosh localhost:27017/test --quiet", ["localhost"]),
        ("mongosh mongodb://orders-0:27017,orders-1:27017/db?replicaSet=rs0", ["orders-0", "orders-1"]),
        ("mongo orders/db --eval x", ["orders"]),
        ("mongo --host rs0/orders-0:27017,orders-1 --eval x", ["orders-0", "orders-1"]),
        ("mongo --username u --password p --port 27017 --eval x", []),
        # Kafka's tools; localhost has to be written.
        ("kafka-topics.sh --bootstrap-server localhost:9092 --list", ["localhost"]),
        ("/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server=:9092", SELF),
        ("kafka-topics --bootstrap-server orders-0:9092,orders-1:9092 --list", ["orders-0", "orders-1"]),
        ("kafka-topics.sh --zookeeper zk:2181/kafka --list", ["zk"]),
        ("kcat -b localhost:9092 -L", ["localhost"]),
        ("zookeeper-shell localhost:2181 ls /", ["localhost"]),
        # rabbitmq-diagnostics.8: a node of this machine, unless it is name@host.
        ("rabbitmq-diagnostics -q ping", []),
        ("rabbitmq-diagnostics -n rabbit ping", SELF),
        ("rabbitmqctl -n rabbit@orders status", ["orders"]),
        ("rabbitmqctl --node rabbit@$HOSTNAME status", ["$HOSTNAME"]),
        # etcdctl
        ("etcdctl endpoint health", []),
        ("etcdctl --endpoints=http://127.0.0.1:2379 endpoint health", ["127.0.0.1"]),
        ("etcdctl --endpoints https://[127.0.0.1]:2379 get foo", ["127.0.0.1"]),
        ("etcdctl --endpoints=etcd-0:2379,etcd-1:2379 endpoint health", ["etcd-0", "etcd-1"]),
        ("etcdctl --endpoints http://localhost:2379,http://etcd-1:2379 endpoint health", ["localhost", "etcd-1"]),
        # nats, consul, vault
        ("nats server check connection", []),
        ("nats -s nats://orders:4222 server check connection", ["orders"]),
        ("consul members", []),
        ("consul members -http-addr=https://localhost:8501", ["localhost"]),
        ("consul info -http-addr=unix:///run/consul.sock", SELF),
        ("vault status -address=http://127.0.0.1:8200", ["127.0.0.1"]),
        ("vault status", []),
        # Other databases and directories
        ("nodetool -h ::1 status", ["::1"]),
        ("cqlsh -u u -p p orders 9042 -e 'select 1'", ["orders"]),
        ("cqlsh -e 'describe cluster'", []),
        ("clickhouse-client --host localhost -q 'select 1'", ["localhost"]),
        ("cockroach node status --insecure --host=:26257", SELF),
        ("sqlcmd -S localhost -U sa -Q 'select 1'", ["localhost"]),
        ("sqlcmd -S tcp:orders,1433 -Q 'select 1'", ["orders"]),
        ("sqlcmd -S . -Q 'select 1'", ["."]),
        ("ldapsearch -x -H ldapi:/// -b dc=x", SELF),
        ("ldapsearch -x -H ldap://orders:389", ["orders"]),
        # Files of bash
        ("/dev/tcp/127.0.0.1/8080", ["127.0.0.1"]),
        # No client
        ("cat /tmp/healthy", []),
        ("/app/healthcheck --addr=orders:80", []),
    ],
)
def test_the_hosts_of_a_client_are_read_as_its_manual_says(line: str, expected: list[str]) -> None:
    import shlex

    assert list(hosts(shlex.split(line))) == expected


def test_the_table_has_the_clients_that_probes_run() -> None:
    usual = {
        *("curl", "wget", "nc", "redis-cli", "mysqladmin", "pg_isready", "mongosh", "mongo", "kafka-topics.sh"),
        *("kafka-broker-api-versions.sh", "rabbitmq-diagnostics", "etcdctl", "nats", "consul", "vault"),
    }
    assert usual < CLIENTS.keys()


ENV = [
    {"name": "DB_HOST", "value": "orders-db"},
    {"name": "SELF", "value": "localhost"},
    {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
    {"name": "REDIS_ADDR", "valueFrom": {"configMapKeyRef": {"name": "web", "key": "redis"}}},
]
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web-headless", "namespace": "shop"},
    "spec": {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]},
}


def probe_of(folder: Path, command: list[str], *, kind: str = "StatefulSet", **pod: Any) -> LintProbe:
    """The liveness probe of a workload with this command, and the Service in front of it."""
    container = {"name": "web", "image": "web:1", "env": ENV, "livenessProbe": {"exec": {"command": command}}}
    labels = {"app": "web"}
    owner = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 3,
            **({"serviceName": "web-headless"} if kind == "StatefulSet" else {}),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}},
        },
    }
    path = folder / "web.yaml"
    path.write_text("\n---\n".join(msgspec.json.encode(each).decode() for each in (owner, SERVICE)))
    scope = Scope(Settings())
    read_source(Source(path, "web.yaml"), scope)
    (workload,) = scope.workloads
    probe = workload.containers[0].liveness
    assert probe is not None
    return probe


def places(probe: LintProbe) -> list[str]:
    return [each.where for each in asked(probe)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl http://localhost:8080/", "container"),
        ("curl http://127.1:8080/", "container"),
        ("curl http://127.8.9.10:8080/", "container"),
        ("curl 'http://[::1]:8080/'", "container"),
        ("curl http://0.0.0.0:8080/", "container"),
        ("curl 'http://[::]:8080/'", "container"),
        ("curl http://:8080/", "container"),
        ("curl http://$IP:8080/", "container"),
        ("curl http://${IP}:8080/", "container"),
        ("curl http://$(IP):8080/", "container"),
        ("curl http://$POD_IP:8080/", "container"),
        ("curl http://$HOSTNAME:8080/", "container"),
        ("curl http://${HOSTNAME}.web-headless.shop.svc.cluster.local:8080/", "container"),
        ("curl http://${NAME}.web-headless:8080/", "container"),
        ("curl http://$(hostname):8080/", "container"),
        ("curl http://`hostname -i`:8080/", "container"),
        ("curl http://$(hostname -f):8080/", "container"),
        ("curl http://$SELF:8080/", "container"),
        ("H=127.0.0.1; curl http://$H:8080/", "container"),
        ("REDIS=localhost; redis-cli -h $REDIS ping", "container"),
        ("curl --unix-socket /run/x.sock http://x/", "container"),
        ("redis-cli ping", "container"),
        ("pg_isready", "container"),
        ("PGHOST=/run/postgresql pg_isready", "container"),
        ("curl http://${NOWHERE:-localhost}:8080/", "container"),
        ("exec 3<>/dev/tcp/127.0.0.1/8080", "container"),
        ("curl http://$NODE:8080/", "node"),
        ("curl http://web-headless:8080/", "own service"),
        ("curl http://web-headless.shop.svc:8080/", "own service"),
        ("curl http://web-headless.other:8080/", "other"),
        ("curl http://web:8080/", "own name"),
        ("curl http://web-svc:8080/", "own name"),
        ("curl http://web-service.shop.svc.cluster.local:8080/", "own name"),
        ("curl http://web-db:8080/", "other"),
        ("curl http://web-0.web-headless:8080/", "unknown"),
        ("curl http://$(cat /etc/peer):8080/", "unknown"),
        ("curl http://$PEER:8080/", "unknown"),
        ("redis-cli -h $REDIS_ADDR ping", "shared name"),
        ("curl http://orders:8080/", "other"),
        ("curl http://10.0.0.7:8080/", "other"),
        ("pg_isready -h $DB_HOST", "other"),
        ("pg_isready -h ${DB_HOST:-localhost}", "other"),
        ("PGHOST=orders pg_isready", "other"),
        ("nc -z orders 5432 </dev/null", "other"),
        ("echo ruok >/dev/tcp/orders/2181", "other"),
        ("kubectl get pods", "other"),
        ("curl https://$KUBERNETES_SERVICE_HOST/livez", "other"),
        ("kubectl version --client", None),
        ("cat /tmp/healthy", None),
    ],
)
def test_whose_a_host_is(tmp_path: Path, text: str, expected: str | None) -> None:
    assert places(probe_of(tmp_path, ["sh", "-c", text])) == ([] if expected is None else [expected])


def test_a_host_of_the_pods_own_hosts_file_is_its_address(tmp_path: Path) -> None:
    aliases = [{"ip": "127.0.0.1", "hostnames": ["me"]}, {"ip": "10.0.0.7", "hostnames": ["db"]}]
    assert places(probe_of(tmp_path, ["curl", "http://me/"], hostAliases=aliases)) == ["container"]
    assert places(probe_of(tmp_path, ["curl", "http://db/"], hostAliases=aliases)) == ["other"]


def test_an_address_is_the_node_in_a_pod_that_shares_its_network(tmp_path: Path) -> None:
    command = ["curl", "http://192.168.1.80/"]
    assert places(probe_of(tmp_path, command, kind="DaemonSet", hostNetwork=True)) == ["node"]
    assert places(probe_of(tmp_path, command, kind="DaemonSet")) == ["other"]
