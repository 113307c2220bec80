//! `grpc.health.v1`: a request and a response of one field each.

/// A `ServingStatus`, which need not have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Health(i32);

impl Health {
    pub(super) const SERVING: Self = Self(1);

    /// An enum has 32 bits, so the higher bits are cut off. The last of repeated fields counts.
    pub(super) const fn of_enum(value: u64) -> Self {
        Self(value as i32)
    }

    /// The name, or the number of a status without a name.
    pub(super) fn name(self) -> String {
        match self.0 {
            0 => "UNKNOWN".to_owned(),
            1 => "SERVING".to_owned(),
            2 => "NOT_SERVING".to_owned(),
            3 => "SERVICE_UNKNOWN".to_owned(),
            number => number.to_string(),
        }
    }
}

/// A `HealthCheckRequest` with its prefix.
pub(super) fn request(service: &str) -> Vec<u8> {
    let mut field = Vec::new();
    if !service.is_empty() {
        field.push(SERVICE_FIELD);
        let mut length = service.len();
        while length >= 0x80 {
            field.push(length as u8 | 0x80);
            length >>= 7;
        }
        field.push(length as u8);
        field.extend_from_slice(service.as_bytes());
    }
    let length = u32::try_from(field.len()).expect("a service's name is short");
    [&[0][..], &length.to_be_bytes(), &field].concat()
}

/// Field 1, length-delimited.
const SERVICE_FIELD: u8 = 0x0a;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        assert_eq!(request(""), [0; 5]);
        assert_eq!(request("é"), [0, 0, 0, 0, 4, 10, 2, 0xc3, 0xa9]);
        assert_eq!(request(&"s".repeat(300))[..8], [0, 0, 0, 1, 47, 10, 0xac, 2]);
    }
}
