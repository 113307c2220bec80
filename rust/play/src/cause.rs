//! Why an attempt ended as it did: one small vocabulary for status, metrics and tools.

/// The cause of an attempt's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The response body was late, cut or reset.
    Body,
    /// No connection within the timeout.
    ConnectTimeout,
    /// The runtime could not be asked.
    Cri,
    /// The host name did not resolve.
    Dns,
    /// The peer closed the connection.
    Eof,
    /// The command ended with an exit code other than 0.
    ExecExit,
    /// The command ran into its timeout.
    ExecTimeout,
    /// The gRPC call ended with a status, or the service is not SERVING.
    GrpcStatus,
    /// No response headers within the timeout.
    HeaderTimeout,
    /// The peer broke the rules of HTTP/2.
    Http2,
    /// The response is not HTTP.
    Malformed,
    /// Nothing is wrong.
    Ok,
    /// The port does not resolve to a number.
    Port,
    /// A redirect was not followed, or too many were.
    Redirect,
    /// The port has no listener.
    Refused,
    /// The request cannot be built.
    Request,
    /// The peer reset the connection.
    Reset,
    /// The prober itself was late, had no socket, port or look-up thread left, or met another limit of its own.
    Starved,
    /// The response's status code says no.
    Status,
    /// The TLS handshake failed.
    Tls,
    /// No route to the host.
    Unreachable,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 21] = [
        Self::Body,
        Self::ConnectTimeout,
        Self::Cri,
        Self::Dns,
        Self::Eof,
        Self::ExecExit,
        Self::ExecTimeout,
        Self::GrpcStatus,
        Self::HeaderTimeout,
        Self::Http2,
        Self::Malformed,
        Self::Ok,
        Self::Port,
        Self::Redirect,
        Self::Refused,
        Self::Request,
        Self::Reset,
        Self::Starved,
        Self::Status,
        Self::Tls,
        Self::Unreachable,
    ];

    /// True for causes that can mean that the deadline passed. The other causes are answers, or come before any
    /// request.
    pub const fn is_timeout(self) -> bool {
        matches!(self, Self::Body | Self::ConnectTimeout | Self::Dns | Self::HeaderTimeout | Self::Tls)
    }

    /// True if the prober itself is the cause: such an error says nothing of the container.
    pub const fn is_own(self) -> bool {
        matches!(self, Self::Starved)
    }

    /// True if something at the target's address took the connection.
    pub const fn is_answer(self) -> bool {
        match self {
            Self::Body
            | Self::Eof
            | Self::GrpcStatus
            | Self::HeaderTimeout
            | Self::Http2
            | Self::Malformed
            | Self::Ok
            | Self::Redirect
            | Self::Reset
            | Self::Status
            | Self::Tls => true,
            Self::ConnectTimeout
            | Self::Cri
            | Self::Dns
            | Self::ExecExit
            | Self::ExecTimeout
            | Self::Port
            | Self::Refused
            | Self::Request
            | Self::Starved
            | Self::Unreachable => false,
        }
    }

    /// The word of status documents and metric labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::ConnectTimeout => "connect_timeout",
            Self::Cri => "cri",
            Self::Dns => "dns",
            Self::Eof => "eof",
            Self::ExecExit => "exec_exit",
            Self::ExecTimeout => "exec_timeout",
            Self::GrpcStatus => "grpc_status",
            Self::HeaderTimeout => "header_timeout",
            Self::Http2 => "http2",
            Self::Malformed => "malformed",
            Self::Ok => "ok",
            Self::Port => "port",
            Self::Redirect => "redirect",
            Self::Refused => "refused",
            Self::Request => "request",
            Self::Reset => "reset",
            Self::Starved => "starved",
            Self::Status => "status",
            Self::Tls => "tls",
            Self::Unreachable => "unreachable",
        }
    }
}
