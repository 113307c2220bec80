//! Where the kubelet's transports of HTTP/2 differ.

use probelet_core::semantics::XNet;

/// How a transport takes what a server may not send.
#[derive(Clone, Copy, Debug)]
pub(in crate::handler::http) struct Rules {
    /// Whether a setting outside of its range ends the connection.
    pub(super) validates_settings: bool,
    /// Whether the request is sent again after RST_STREAM with PROTOCOL_ERROR.
    pub(super) repeats_protocol_errors: bool,
}

impl Rules {
    /// Without TLS net/http's own copy asks (Go 1.26).
    pub(in crate::handler::http) const OF_NET_HTTP: Self =
        Self { validates_settings: true, repeats_protocol_errors: true };

    /// With TLS golang.org/x/net asks.
    pub(in crate::handler::http) const fn of_x_net(x_net: XNet) -> Self {
        Self {
            validates_settings: x_net.validates_settings(),
            repeats_protocol_errors: x_net.repeats_protocol_errors(),
        }
    }
}
