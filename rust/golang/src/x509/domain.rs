//! Domain names in certificates.

/// Whether the text is empty or labels that no dot ends (`domainNameValid`).
pub(super) fn is_domain(text: &[u8]) -> bool {
    let is_label = |label: &[u8]| !label.is_empty() && label.iter().all(|byte| (33..=126).contains(byte));
    text.is_empty() || text.split(|&byte| byte == b'.').all(is_label)
}
