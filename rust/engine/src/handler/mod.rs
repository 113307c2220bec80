//! The probe handlers: what one attempt does on the wire, and what the kubelet would say of it.
//!
//! [`attempt`] is all that a driver needs. It borrows what it is given, runs on a current-thread runtime with time and I/O
//! enabled, ends at the latest when its time is over, and may be dropped at any point.
//! Every outcome, every text and every byte of a request is the kubelet's (1.36.3, built with Go 1.26).
//!
//! ```no_run
//! # use probelet_core::semantics::GrpcConnect;
//! # use probelet_core::spec::{Handler, HttpGet, IntOrString};
//! # use probelet_engine::handler::{Asker, Scratch, attempt};
//! # use std::time::Duration;
//! # async fn example() {
//! let handler = Handler::HttpGet(HttpGet {
//!     scheme: "HTTP".into(),
//!     host: "".into(),
//!     port: IntOrString::Str("web".into()),
//!     path: "/healthz".into(),
//!     headers: vec![],
//!     http2: false,
//! });
//! let ports = [("web".into(), 8080)];
//! let timeout = Duration::from_secs(1);
//! let asker = Asker { user_agent: "kube-probe/1.36", grpc_connect: GrpcConnect::UntilTimeout };
//! let (outcome, cause, phases) =
//!     attempt(&handler, &ports, "10.0.0.7", asker, timeout, &mut Scratch::default()).await;
//! # }
//! ```

mod asker;
mod buffers;
pub(crate) mod grpc;
mod http;
mod limit;
pub mod once;
mod probe;
mod tcp;

pub use self::asker::Asker;
pub use self::buffers::Scratch;
pub use self::limit::Limit;
pub use self::probe::{Observation, attempt, observe};
