//! Who asks: what a kubelet of some release does and says by itself.

use probelet_core::semantics::GrpcConnect;

/// What a handler needs to know of the kubelet that asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// `User-Agent`, `kube-probe/<major>.<minor>`.
    pub user_agent: &'a str,
    /// What a gRPC probe does about a connection that fails.
    pub grpc_connect: GrpcConnect,
}
