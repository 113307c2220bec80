"""The program of a container, as far as the name of its image says it."""

import re
from typing import Final

from probelet.lint.model.workload import LintContainer

_DATABASES: Final = re.compile(
    r"(postgres|postgresql|postgis|timescaledb|mysql|mariadb|percona-\w+|mongo|mongodb|cassandra|scylla|scylladb|"
    r"cockroach|cockroachdb|clickhouse|clickhouse-server|elasticsearch|opensearch|influxdb|neo4j|couchdb|couchbase|"
    r"redis|valkey|keydb|etcd|rabbitmq|kafka|zookeeper|tidb|tikv|yugabyte|solr)"
    r"(-(alpine|server|enterprise|community|\d[\w.-]*))*"
)
IN_MEMORY: Final = frozenset({"redis", "valkey", "keydb"})
"""Databases that mostly are caches, with nothing to recover."""

_JAVA: Final = re.compile(
    r"(^|[/_.-])(java|jre|jdk|openjdk|temurin|corretto|zulu|spring|springboot|tomcat|jetty|wildfly|jboss|payara|"
    r"keycloak|jenkins|sonarqube|nexus3?|hadoop|spark|trino|presto|activemq|artemis)([/_.:-]|$)"
)
_JAVA_VARIABLES: Final = frozenset({"JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JVM_OPTS"})
_BESIDE: Final = re.compile(r"(^|[/_.-])(operator|controller|exporter|webhook|proxy|client|cli|agent|init)([/_.:-]|$)")
"""A program beside the one that the rest of the name names: ``kubeflow/spark-operator/controller`` is no Spark."""

_MODELS: Final = re.compile(
    r"(^|[/_.-])(cuda|vllm|vllm-openai|triton|tritonserver|text-generation-inference|tgi|huggingfaceserver|ollama|"
    r"llama\.cpp|sglang|nim)([/_.:-]|$)"
)


def database(container: LintContainer) -> str | None:
    """The name of the database or broker that the container runs; None for any other."""
    found = _DATABASES.fullmatch(_repository(container).rpartition("/")[2])
    if found is None:
        return None
    # An image of a database also serves for its clients: then the command runs something else.
    command = " ".join([*container.spec.command, *container.spec.args]).lower() if container.spec.command else ""
    return None if command and found[1][:5] not in command and "entrypoint" not in command else found[1]


def slow_start(container: LintContainer) -> str | None:
    """Why starts of such a container take long, for a sentence: ``a Java program``. None if nothing says so."""
    variables = {entry.name for entry in container.spec.env}
    if variables & _JAVA_VARIABLES:
        return f"a Java program ({min(variables & _JAVA_VARIABLES)})"
    image = _repository(container)
    if _BESIDE.search(image) is not None:
        return None
    if (found := _JAVA.search(image)) is not None:
        return f"a Java program (image {found[2]})"
    if (found := _MODELS.search(image)) is not None:
        return f"a server that loads a model (image {found[2]})"
    return None


def _repository(container: LintContainer) -> str:
    """The image's name without registry, tag and digest."""
    image = container.spec.image.lower().partition("@")[0]
    head, slash, tail = image.rpartition("/")
    host, more, rest = f"{head}{slash}{tail.partition(':')[0]}".partition("/")
    # A registry has a dot or a port.
    return rest if more and ("." in host or ":" in host or host == "localhost") else f"{host}{more}{rest}"
