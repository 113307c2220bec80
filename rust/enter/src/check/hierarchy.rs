//! The cgroup hierarchies of this machine, as this program sees them.

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// The second field of a line of `/proc/PID/cgroup`: the controllers of version 1, empty for version 2.
    pub(crate) controllers: String,
    /// Where it is mounted.
    pub(crate) mount: String,
    /// This program's own cgroup in it.
    pub(crate) own: String,
}

/// The hierarchies of `/proc/self/cgroup` with their mounts from `/proc/self/mountinfo`. One that is not mounted, or
/// of which only a part is, has an empty mount.
pub(crate) fn hierarchies(cgroup: &str, mountinfo: &str) -> Vec<Hierarchy> {
    memberships(cgroup)
        .map(|(controllers, own)| Hierarchy {
            mount: mountinfo.lines().find_map(|line| mount_of(line, controllers)).unwrap_or_default().to_owned(),
            controllers: controllers.to_owned(),
            own: own.to_owned(),
        })
        .collect()
}

/// The lines `number:controllers:path` of `/proc/PID/cgroup`.
pub(crate) fn memberships(cgroup: &str) -> impl Iterator<Item = (&str, &str)> {
    cgroup.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'))
}

/// The mount point of a line of mountinfo, if it is a whole hierarchy with these controllers. A path with a space is
/// written with an escape in mountinfo; no machine mounts its cgroups there.
fn mount_of<'a>(line: &'a str, controllers: &str) -> Option<&'a str> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    let (root, mount) = (fields.next()?, fields.next()?);
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let is_it = match kind {
        "cgroup2" => controllers.is_empty(),
        "cgroup" => {
            !controllers.is_empty() && controllers.split(',').all(|name| options.split(',').any(|own| own == name))
        }
        _ => false,
    };
    (is_it && root == "/" && !mount.contains('\\')).then_some(mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
33 31 0:30 /part /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn each_hierarchy_has_its_mount() {
        let cgroup = "4:memory:/a\n3:cpu,cpuacct:/\n2:name=systemd:/user.slice\n1:pids:/\n0::/b\n";
        let found = hierarchies(cgroup, MOUNTS);
        let found: Vec<_> = found.iter().map(|at| (&*at.controllers, &*at.mount, &*at.own)).collect();
        let expected = [
            // A part of a hierarchy is none: paths would lead elsewhere in it.
            ("memory", "", "/a"),
            ("cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct", "/"),
            ("name=systemd", "/sys/fs/cgroup/systemd", "/user.slice"),
            ("pids", "", "/"),
            ("", "/sys/fs/cgroup/unified", "/b"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_path_may_hold_colons() {
        assert_eq!(memberships("0::/a:b\n").collect::<Vec<_>>(), [("", "/a:b")]);
    }
}
