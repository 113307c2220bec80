"""The configuration of a node: the kubelet's own file, our opt-ins and the feature gates."""

from probelet.config.gate import DEFAULT_VERSION, GATES, VERSIONS, Gate, Gates, parse_feature_gates
from probelet.config.kubelet import CrashLoopBackOffConfig, KubeletConfiguration
from probelet.config.load import Config, ConfigError, load_config
from probelet.config.opt_in import FlightRecorder, ProbeletConfiguration, RestartBudget

__all__ = [
    "DEFAULT_VERSION",
    "GATES",
    "VERSIONS",
    "Config",
    "ConfigError",
    "CrashLoopBackOffConfig",
    "FlightRecorder",
    "Gate",
    "Gates",
    "KubeletConfiguration",
    "ProbeletConfiguration",
    "RestartBudget",
    "load_config",
    "parse_feature_gates",
]
