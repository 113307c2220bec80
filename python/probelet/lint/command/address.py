"""Where the clients that probes run have the address that they ask: one row for each client, from its manual."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Place: TypeAlias = Literal["", "url", "host", "host port", "server", "database", "conninfo"]
Form: TypeAlias = Literal["address", "node", "sql server"]


@dataclass(frozen=True, slots=True)
class Client:
    """The address syntax of a client. One that names no address asks its default, which is the container itself: a
    socket, or localhost."""

    options: tuple[str, ...] = ()
    """The options whose value is an address: a host, a host with a port, a URL, or a list of them with commas."""
    place: Place = ""
    """Which argument is an address. ``url``: each URL, or the last one. ``host``: the first one. ``host port``: the one
    before the port. ``server``: the one that begins with ``@``. ``database``: a URL, or a text with a dot, colon or
    slash; anything else is a database. ``conninfo``: a URL, or ``host=...``; anything else is a database."""
    form: Form = "address"
    """How the value of an option reads. ``node``: ``name@host``, and a name alone is a node of this machine. ``sql
    server``: ``tcp:host,port``."""
    databases: tuple[str, ...] = ()
    """The options whose value is as good as such an argument."""
    valued: str = ""
    """The other options of one letter that have a value behind them, which is no argument then."""
    valued_names: tuple[str, ...] = ()
    """The same of longer options."""
    sockets: tuple[str, ...] = ()
    """The options that name a socket in place of an address."""
    variables: tuple[str, ...] = ()
    """The variables of the environment that have an address where no option has."""


_CURL: Final = Client(
    options=("--url",),
    place="url",
    valued="AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    valued_names=(
        *("--connect-timeout", "--max-time", "--header", "--output", "--request", "--data", "--data-raw", "--json"),
        *("--data-binary", "--user", "--user-agent", "--cacert", "--capath", "--cert", "--key", "--cookie", "--form"),
        *("--write-out", "--retry", "--retry-delay", "--retry-max-time", "--resolve", "--connect-to", "--proxy"),
        *("--noproxy", "--interface", "--referer", "--config", "--max-redirs", "--tls-max", "--ciphers", "--range"),
        *("--speed-limit", "--speed-time", "--cert-type", "--key-type", "--pass", "--oauth2-bearer", "--limit-rate"),
    ),
    sockets=("--unix-socket", "--abstract-unix-socket"),
)
_WGET: Final = Client(
    place="url",
    valued="OTtPoaUYwQeA",
    valued_names=(
        *("--output-document", "--timeout", "--tries", "--header", "--user-agent", "--post-data", "--body-data"),
        *("--method", "--user", "--password", "--http-user", "--http-password", "--output-file", "--ca-certificate"),
        *("--connect-timeout", "--read-timeout", "--dns-timeout", "--wait", "--waitretry", "--certificate"),
    ),
)
_NC: Final = Client(place="host port", valued="wipsqeXxGgTcIOPVWmo", sockets=("-U", "--unixsock"))
_REDIS: Final = Client(options=("-h", "-u"), sockets=("-s",))
_MYSQL: Final = Client(options=("-h", "--host"), sockets=("-S", "--socket"))
_POSTGRES: Final = Client(
    options=("-h", "--host"),
    place="conninfo",
    databases=("-d", "--dbname"),
    valued="pUtcvfoFRTPL",
    valued_names=("--port", "--username", "--timeout", "--command", "--variable", "--file"),
    variables=("PGHOST", "PGHOSTADDR"),
)
_MONGO: Final = Client(
    options=("--host",),
    place="database",
    valued="up",
    valued_names=(
        *("--port", "--username", "--password", "--authenticationDatabase", "--authenticationMechanism", "--eval"),
        *("--tlsCAFile", "--tlsCertificateKeyFile", "--sslCAFile", "--sslPEMKeyFile", "--file"),
    ),
)
_KAFKA: Final = Client(options=("--bootstrap-server", "--bootstrap-controller", "--broker-list", "--zookeeper"))
_KAFKA_TOOLS: Final = (
    "topics",
    "broker-api-versions",
    "metadata-quorum",
    "cluster",
    "configs",
    "consumer-groups",
    "features",
)
_RABBITMQ: Final = Client(options=("-n", "--node"), form="node")
_GRPC: Final = Client(options=("-addr", "--addr"))
_ETCD: Final = Client(options=("--endpoints", "--endpoint"), variables=("ETCDCTL_ENDPOINTS",))
_NATS: Final = Client(options=("-s", "--server"), variables=("NATS_URL",))
_CONSUL: Final = Client(options=("-http-addr", "--http-addr"), variables=("CONSUL_HTTP_ADDR",))
_CQL: Final = Client(
    place="host",
    valued="ukefp",
    valued_names=("--username", "--keyspace", "--execute", "--file", "--password", "--request-timeout"),
    variables=("CQLSH_HOST",),
)
_CLICKHOUSE: Final = Client(options=("-h", "--host"))
_SQLCMD: Final = Client(options=("-S",), form="sql server")
_LDAP: Final = Client(options=("-H", "-h"))
_COCKROACH: Final = Client(options=("--host", "--url"), variables=("COCKROACH_HOST", "COCKROACH_URL"))

CLIENTS: Final[Mapping[str, Client]] = {
    "curl": _CURL,
    "wget": _WGET,
    # HTTPie has `:8080/health` for localhost.
    "http": Client(place="url", valued="abopsA", valued_names=("--timeout", "--verify", "--auth", "--print")),
    **dict.fromkeys(("nc", "ncat", "netcat"), _NC),
    "telnet": Client(place="host port", valued="bel"),
    **dict.fromkeys(("ping", "ping6"), Client(place="host", valued="cWiwsItTpQmMlS")),
    "dig": Client(place="server"),
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _REDIS),
    **dict.fromkeys(("mysql", "mysqladmin", "mysqlshow", "mysqlcheck"), _MYSQL),
    **dict.fromkeys(("mariadb", "mariadb-admin", "mariadb-show", "mariadb-check"), _MYSQL),
    **dict.fromkeys(("psql", "pg_isready"), _POSTGRES),
    **dict.fromkeys(("mongosh", "mongo"), _MONGO),
    **{f"kafka-{name}{end}": _KAFKA for name in _KAFKA_TOOLS for end in ("", ".sh")},
    **dict.fromkeys(("kcat", "kafkacat", "cub"), Client(options=("-b",))),
    "zkCli.sh": Client(options=("-server",)),
    **dict.fromkeys(("zookeeper-shell", "zookeeper-shell.sh"), Client(place="host")),
    **dict.fromkeys(("rabbitmqctl", "rabbitmq-diagnostics", "rabbitmq-upgrade"), _RABBITMQ),
    "etcdctl": _ETCD,
    "nats": _NATS,
    "consul": _CONSUL,
    "vault": Client(options=("-address", "--address"), variables=("VAULT_ADDR",)),
    "bao": Client(options=("-address", "--address"), variables=("BAO_ADDR", "VAULT_ADDR")),
    "nodetool": Client(options=("-h", "--host")),
    "cqlsh": _CQL,
    "clickhouse-client": _CLICKHOUSE,
    "clickhouse": _CLICKHOUSE,
    "cockroach": _COCKROACH,
    "sqlcmd": _SQLCMD,
    **dict.fromkeys(("ldapsearch", "ldapwhoami"), _LDAP),
    **dict.fromkeys(("grpc_health_probe", "grpc-health-probe"), _GRPC),
    "grpcurl": Client(
        place="host",
        valued_names=(
            *("-d", "-H", "-authority", "-connect-timeout", "-max-time", "-proto", "-import-path", "-cacert", "-cert"),
            *("-key", "-servername", "-format", "-protoset", "-rpc-header", "-reflect-header"),
        ),
    ),
}
"""Program -> its syntax."""


def client(program: str) -> Client | None:
    """The syntax of a program by its name without its directory; images often have a release in it:
    ``grpc_health_probe-linux-amd64``."""
    found = CLIENTS.get(program)
    if found is None and program.startswith("grpc_health_probe"):
        return _GRPC
    return found
