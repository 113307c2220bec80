//! What a simulation writes down: the recordings' own schema, times in virtual milliseconds since t = 0.

use serde::Serialize;

use crate::json::StatusDocument;

/// One line of a trace. The section says where it belongs.
#[derive(Debug, Serialize)]
#[serde(tag = "section", rename_all = "lowercase")]
pub enum Record {
    /// An exec attempt.
    Probes {
        /// When it began.
        t_ms: i64,
        /// When it ended.
        end_ms: i64,
        /// The pod's name.
        pod: Box<str>,
        /// The pod's UID.
        pod_uid: Box<str>,
        /// The container's name.
        container: Box<str>,
        /// The probe's type.
        r#type: &'static str,
        /// The container's ID.
        container_id: Box<str>,
        /// Its number in its script.
        n: u64,
        /// Its number in its run.
        attempt: u8,
        /// success, failure, error or timeout.
        outcome: &'static str,
        /// `timeoutSeconds`.
        timeout_s: i32,
        /// The command after its expansion.
        command: Vec<Box<str>>,
    },
    /// A result that was set or removed.
    Results {
        /// When.
        t_ms: i64,
        /// The probe's type.
        r#type: &'static str,
        /// set or remove.
        op: &'static str,
        /// The container's ID.
        container_id: Box<str>,
        /// What was set.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'static str>,
        /// Set: an update is sent. Remove: there was an entry.
        changed: bool,
    },
    /// A result that changed.
    Updates {
        /// When.
        t_ms: i64,
        /// The probe's type.
        r#type: &'static str,
        /// The pod's UID.
        pod_uid: Box<str>,
        /// The container's ID.
        container_id: Box<str>,
        /// The new result.
        result: &'static str,
    },
    /// An event.
    Events {
        /// When.
        t_ms: i64,
        /// The pod's name.
        pod: Box<str>,
        /// The pod's UID.
        pod_uid: Box<str>,
        /// `involvedObject.fieldPath`.
        field_path: Box<str>,
        /// Warning.
        r#type: &'static str,
        /// Unhealthy or ProbeWarning.
        reason: &'static str,
        /// The message, bytes that are not UTF-8 replaced.
        message: String,
        /// The message's bytes, where they are not UTF-8.
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<Box<[u8]>>,
    },
    /// The status layer called UpdatePodStatus.
    Updated {
        /// When.
        t_ms: i64,
        /// The pod's UID.
        pod_uid: Box<str>,
        /// What it was called with.
        argument: Box<StatusDocument>,
        /// The same with `ready` and `started` filled.
        filled: Box<StatusDocument>,
    },
    /// The status layer stored a status that workers see differently.
    Stored {
        /// When.
        t_ms: i64,
        /// The pod's UID.
        pod_uid: Box<str>,
        /// What it stored.
        status: Box<StatusDocument>,
    },
    /// A worker turned: an attempt is bad after a good one, or good after a bad one.
    Turns {
        /// When the attempt ended.
        t_ms: i64,
        /// The pod's UID.
        pod_uid: Box<str>,
        /// The container's name.
        container: Box<str>,
        /// The probe's type.
        r#type: &'static str,
        /// Whether it is good.
        is_good: bool,
        /// Why it ended so.
        cause: &'static str,
        /// How late the prober read the answer.
        overdue_ms: f64,
        /// What it said; empty for a success.
        message: Box<str>,
    },
    /// A pod asked for a sync.
    Syncs {
        /// When.
        t_ms: i64,
        /// The pod's UID.
        pod_uid: Box<str>,
    },
    /// A driver's timer was due.
    Timers {
        /// When.
        t_ms: i64,
        /// Its token.
        token: u64,
    },
}
