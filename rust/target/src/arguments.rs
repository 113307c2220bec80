//! The command line: a protocol, and two numbers that have defaults.

use std::time::Duration;

use crate::target::Protocol;

/// What to serve.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) protocol: Protocol,
    /// 0 takes a port that is free.
    pub(crate) port: u16,
    /// The period of the workers whose probes arrive.
    pub(crate) period: Duration,
}

impl Arguments {
    /// Reads the arguments that follow the program's name. An error is one line that names the argument.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let name = words.next().ok_or(USAGE)?;
        let protocol = Protocol::of_name(&name)
            .ok_or_else(|| format!("protocol: {name:?}: must be one of grpc, http, https, tcp"))?;
        let mut arguments = Self { protocol, port: 0, period: Duration::from_secs(1) };
        while let Some(flag) = words.next() {
            let value = words.next();
            let value = value.as_deref().ok_or_else(|| format!("{flag}: a value is missing; {USAGE}"))?;
            let bad = |allowed| format!("{flag}: {value:?}: must be {allowed}");
            match flag.as_str() {
                "--port" => arguments.port = value.parse().map_err(|_| bad("a number from 0 to 65535"))?,
                "--period-ns" => {
                    let nanoseconds = value.parse().ok().filter(|&nanoseconds| nanoseconds > 0);
                    let nanoseconds = nanoseconds.ok_or_else(|| bad("a number of nanoseconds above 0"))?;
                    arguments.period = Duration::from_nanos(nanoseconds);
                }
                _ => return Err(format!("{flag}: there is no such argument; {USAGE}")),
            }
        }
        Ok(arguments)
    }
}

const USAGE: &str = "usage: probelet-target grpc|http|https|tcp [--port PORT] [--period-ns NANOSECONDS]";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn port_and_period_have_defaults() {
        let (port, period) = (0, Duration::from_secs(1));
        assert_eq!(parse("tcp"), Ok(Arguments { protocol: Protocol::Tcp, port, period }));
        let (port, period) = (8080, Duration::from_nanos(5));
        let line = "grpc --period-ns 5 --port 8080";
        assert_eq!(parse(line), Ok(Arguments { protocol: Protocol::Grpc, port, period }));
    }

    #[test]
    fn a_mistake_is_one_line_with_the_argument() {
        let said = |line| parse(line).expect_err("the line is wrong");
        assert_eq!(said(""), USAGE);
        assert_eq!(said("udp"), "protocol: \"udp\": must be one of grpc, http, https, tcp");
        assert_eq!(said("tcp --port 65536"), "--port: \"65536\": must be a number from 0 to 65535");
        assert_eq!(said("tcp --period-ns 0"), "--period-ns: \"0\": must be a number of nanoseconds above 0");
        assert_eq!(said("tcp --port"), format!("--port: a value is missing; {USAGE}"));
        assert_eq!(said("tcp --host x"), format!("--host: there is no such argument; {USAGE}"));
    }
}
