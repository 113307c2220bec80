//! The probe handlers: what one attempt sends and receives, and the kubelet's text for its outcome.
//!
//! [`probe_once`] is all that a driver needs. It borrows its arguments, runs on a current-thread runtime with time and
//! I/O enabled, ends when its time is over at the latest, and may be dropped at any point. Every outcome, every text
//! and every byte of a request is the kubelet's (1.36.3, built with Go 1.26).
//!
//! ```no_run
//! # use probelet_core::semantics::Semantics;
//! # use probelet_core::spec::{Handler, HttpGet, IntOrString};
//! # use probelet_engine::handler::{Asker, Buffers, probe_once};
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
//! let asker = Asker { user_agent: "kube-probe/1.36", rules: Semantics::V1_36.handler_rules(), pod_uid: None };
//! let report = probe_once(&handler, &ports, "10.0.0.7", asker, timeout, &mut Buffers::default()).await;
//! # }
//! ```

mod asker;
mod buffers;
mod for_simulation;
pub(crate) mod grpc;
mod http;
mod late;
mod limit;
mod next_frame;
pub mod once;
mod probe_once;
mod refused;
mod tcp;

pub use self::asker::Asker;
pub use self::buffers::Buffers;
pub use self::for_simulation::ForSimulation;
pub use self::limit::Limit;
pub use self::probe_once::probe_once;
pub(crate) use self::probe_once::{PlainRequest, Question, probe_driven, probe_plain};
pub(crate) use self::refused::{address_of, refused};
