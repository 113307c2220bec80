"""Fields of a 1.36 ``KubeletConfiguration`` that probelet does not read.

A node's configuration file sets many of them; they are known fields, so they cause no warning.
"""

_NAMES = """
    address allowedUnsafeSysctls authentication authorization cgroupDriver cgroupRoot cgroupsPerQOS clusterDNS
    configMapAndSecretChangeDetectionStrategy containerLogMaxWorkers containerRuntimeEndpoint contentType cpuCFSQuota
    cpuCFSQuotaPeriod cpuManagerPolicy cpuManagerPolicyOptions cpuManagerReconcilePeriod enableContentionProfiling
    enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers enableProfilingHandler
    enableServer enableSystemLogHandler enableSystemLogQuery enforceNodeAllocatable eventBurst eventRecordQPS
    evictionHard evictionMaxPodGracePeriod evictionMinimumReclaim evictionPressureTransitionPeriod evictionSoft
    evictionSoftGracePeriod failCgroupV1 failSwapOn fileCheckFrequency hairpinMode healthzBindAddress healthzPort
    httpCheckFrequency imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge
    imagePullCredentialsVerificationPolicy imageServiceEndpoint iptablesDropBit iptablesMasqueradeBit
    kernelMemcgNotification kubeAPIBurst kubeAPIQPS kubeReserved kubeReservedCgroup kubeletCgroups
    localStorageCapacityIsolation logging makeIPTablesUtilChains maxOpenFiles maxPods
    memoryManagerPolicy memoryReservationPolicy memorySwap memoryThrottlingFactor mergeDefaultEvictionSettings
    nodeLeaseDurationSeconds nodeStatusMaxImages nodeStatusReportFrequency nodeStatusUpdateFrequency
    podCIDR podPidsLimit podsPerCore port preloadedImagesVerificationAllowlist protectKernelDefaults
    providerID qosReserved readOnlyPort registerNode registerWithTaints registryBurst registryPullQPS
    reservedMemory reservedSystemCPUs resolvConf rotateCertificates runOnce
    serverTLSBootstrap showHiddenMetricsForVersion shutdownGracePeriod shutdownGracePeriodByPodPriority
    shutdownGracePeriodCriticalPods singleProcessOOMKill staticPodPath staticPodURL staticPodURLHeader
    streamingConnectionIdleTimeout syncFrequency systemCgroups systemReserved systemReservedCgroup tlsCertFile
    tlsCipherSuites tlsCurvePreferences tlsMinVersion tlsPrivateKeyFile topologyManagerPolicy
    topologyManagerPolicyOptions topologyManagerScope tracing userNamespaces volumePluginDir volumeStatsAggPeriod
"""

UNREAD_FIELDS = frozenset(_NAMES.split())
