//! The cgroups of a container: where its first process is, and the files through which a command joins it there.

use std::ffi::CString;
use std::io::{Error, Result as IoResult};
use std::os::fd::{AsRawFd, OwnedFd};

use probelet_enter_protocol::answer::{Refusal, Refused};

use crate::check::hierarchy::{Hierarchy, memberships};
use crate::check::leaf::{Leaf, unused_leaf};
use crate::sys::{contents_at, open, write};

/// The files through which a command joins the cgroups of a container.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) cgroups: Vec<Cgroup>,
    /// The leaf of version 2, if the command has one.
    pub(crate) leaf: Option<Leaf>,
}

/// A cgroup that a command joins, by its `cgroup.procs`.
#[derive(Debug)]
pub(crate) struct Cgroup {
    procs: OwnedFd,
    /// Of the cgroup below in which the first process is.
    below: Option<OwnedFd>,
}

impl Cgroup {
    fn open(place: &Place<'_>) -> Result<Self, Refused> {
        let below = place.below.map(|below| open_procs(place.mount, below)).transpose()?;
        Ok(Self { procs: open_procs(place.mount, place.path)?, below })
    }

    pub(crate) fn descriptors(&self) -> impl Iterator<Item = &OwnedFd> {
        [&self.procs].into_iter().chain(&self.below)
    }

    /// Joins the cgroup. One that gives controllers to cgroups below takes no process; then it is the first process's own,
    /// as with runc.
    pub(crate) fn join(&self) -> IoResult<()> {
        let outcome = write(self.procs.as_raw_fd(), b"0");
        match (&self.below, outcome) {
            (Some(below), Err(_)) => write(below.as_raw_fd(), b"0"),
            (_, outcome) => outcome,
        }
    }
}

/// Opens `cgroup.procs` of every cgroup that the first process is in and this program is not; of version 2, that of a leaf
/// of it, unless the container gives controllers to cgroups of its own.
///
/// Each cgroup has the container's name, or is the root of a hierarchy that the runtime does not use; at least one has
/// the name. In version 2 the first process may be in a cgroup below. One that has moved itself elsewhere is the
/// runtime's to judge.
pub(crate) fn open_cgroups(cgroup: &str, id: &str, hierarchies: &[Hierarchy]) -> Result<Joined, Refused> {
    let mut joined = Joined { cgroups: Vec::new(), leaf: None };
    for (place, hierarchy) in places(cgroup, id, hierarchies)? {
        if is_paused(&place, hierarchy) {
            return Err(Refused::new(Refusal::Paused));
        }
        let may_have_leaf = hierarchy.controllers.is_empty() && place.path != "/" && !delegates(&place);
        if may_have_leaf && let Some((leaf, procs)) = unused_leaf(&format!("{}{}", place.mount, place.path)) {
            joined.leaf = Some(leaf);
            joined.cgroups.push(Cgroup { procs, below: None });
        } else if hierarchy.own != place.path {
            joined.cgroups.push(Cgroup::open(&place)?);
        }
    }
    Ok(joined)
}

fn open_procs(mount: &str, path: &str) -> Result<OwnedFd, Refused> {
    open(&file(mount, path, "cgroup.procs")?, libc::O_WRONLY).map_err(|error| Refused::of(Refusal::Cgroup, &error))
}

fn file(mount: &str, path: &str, name: &str) -> Result<CString, Refused> {
    let slash = if path == "/" { "" } else { "/" };
    CString::new(format!("{mount}{path}{slash}{name}")).map_err(|_| Refused::new(Refusal::Cgroup))
}

/// A cgroup of a container.
struct Place<'a> {
    mount: &'a str,
    path: &'a str,
    /// Where the first process is, if that is below.
    below: Option<&'a str>,
}

impl Place<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let text = contents_at(libc::AT_FDCWD, &file(self.mount, self.path, name).ok()?).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The cgroups of the first process, each with its hierarchy.
fn places<'a>(
    cgroup: &'a str,
    id: &str,
    hierarchies: &'a [Hierarchy],
) -> Result<Vec<(Place<'a>, &'a Hierarchy)>, Refused> {
    let refused = || Refused::new(Refusal::Cgroup);
    let mut places = Vec::new();
    let mut is_named = false;
    let mut count = 0;
    for (controllers, path) in memberships(cgroup) {
        let hierarchy = hierarchies.iter().find(|at| at.controllers == controllers).ok_or_else(refused)?;
        let named = named_part(path, id).filter(|named| controllers.is_empty() || *named == path);
        if named.is_none() && path != "/" {
            return Err(refused());
        }
        is_named |= named.is_some();
        count += 1;
        if !hierarchy.mount.is_empty() {
            let below = named.filter(|named| *named != path).map(|_| path);
            places.push((Place { mount: &hierarchy.mount, path: named.unwrap_or(path), below }, hierarchy));
        } else if hierarchy.own != path {
            return Err(refused());
        }
    }
    if is_named && count == hierarchies.len() { Ok(places) } else { Err(refused()) }
}

/// The path up to the container's own part: `ID` (cgroupfs) or `PREFIX-ID.scope` (systemd). The first such part counts,
/// because the container may name cgroups below as it likes.
fn named_part<'a>(path: &'a str, id: &str) -> Option<&'a str> {
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    ends.filter_map(|end| path.get(..end)).find(|above| {
        let last = above.rsplit('/').next().unwrap_or_default();
        let scope = last.strip_suffix(".scope").and_then(|name| name.strip_suffix(id));
        last == id || scope.is_some_and(|name| name.ends_with('-'))
    })
}

/// Whether the container gives controllers to cgroups below its own.
fn delegates(place: &Place<'_>) -> bool {
    place.text("cgroup.subtree_control").is_none_or(|text| !text.trim().is_empty())
}

/// A command that joined a paused container would stand still until its timeout, and the runtime says so at once.
fn is_paused(place: &Place<'_>, hierarchy: &Hierarchy) -> bool {
    let (file, is_frozen): (_, fn(&str) -> bool) = match &*hierarchy.controllers {
        "" => ("cgroup.events", |text| text.lines().any(|line| line == "frozen 1")),
        controllers if controllers.split(',').any(|name| name == "freezer") => {
            ("freezer.state", |text| text.trim_end() != "THAWED")
        }
        _ => return false,
    };
    // The root of a hierarchy has no such file: it cannot be frozen.
    place.text(file).is_some_and(|text| is_frozen(&text))
}

/// Reads a file of a process that may have ended.
pub(crate) fn unreadable(error: &Error) -> Refused {
    Refused::of(Refusal::Identity, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn hierarchy(controllers: &str, mount: &str) -> Hierarchy {
        Hierarchy { controllers: controllers.to_owned(), mount: mount.to_owned(), own: "/".to_owned() }
    }

    fn outcome(cgroup: &str) -> Result<Vec<String>, Refusal> {
        let hierarchies = [hierarchy("memory", "/cg/memory"), hierarchy("misc", ""), hierarchy("", "/cg/unified")];
        let file = |mount: &str, path: &str| file(mount, path, "cgroup.procs").unwrap().into_string().unwrap();
        let files = |(place, _): &(Place<'_>, _)| {
            let paths = [Some(place.path), place.below];
            paths.into_iter().flatten().map(|path| file(place.mount, path)).collect::<Vec<_>>()
        };
        places(cgroup, ID, &hierarchies)
            .map(|found| found.iter().flat_map(files).collect())
            .map_err(|error| error.refusal)
    }

    #[test]
    fn a_container_of_either_driver_is_found() {
        let expected =
            |path: &str| Ok(vec![format!("/cg/memory{path}/cgroup.procs"), "/cg/unified/cgroup.procs".to_owned()]);
        let path = format!("/k8s.io/{ID}");
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::/\n")), expected(&path));
        let path = format!("/kubepods.slice/pod1.slice/cri-containerd-{ID}.scope");
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::/\n")), expected(&path));
    }

    #[test]
    fn a_process_elsewhere_is_not_the_containers() {
        for path in [
            "/",
            "/k8s.io/fedcba9876543210fedcba9876543210",
            &format!("/k8s.io/{ID}/init.scope"),
            &format!("/k8s.io/{ID} (deleted)"),
            &format!("/k8s.io/x{ID}"),
            &format!("/../other/{ID}"),
        ] {
            assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::/\n")), Err(Refusal::Cgroup), "{path}");
        }
    }

    #[test]
    fn the_first_process_may_be_in_a_cgroup_below_in_version_2_alone() {
        let path = format!("/k8s.io/{ID}");
        let below = format!("{path}/init.scope/{ID}");
        let unified = |path| format!("/cg/unified{path}/cgroup.procs");
        let expected =
            Ok(vec![format!("/cg/memory{path}/cgroup.procs"), unified(path.clone()), unified(below.clone())]);
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::{below}\n")), expected);
        assert_eq!(outcome(&format!("3:memory:{below}\n2:misc:/\n0::{path}\n")), Err(Refusal::Cgroup));
        for path in ["/k8s.io/other/init.scope", &format!("{path}/../other/init.scope")] {
            assert_eq!(outcome(&format!("3:memory:/\n2:misc:/\n0::{path}\n")), Err(Refusal::Cgroup), "{path}");
        }
    }

    #[test]
    fn a_hierarchy_more_or_less_than_this_programs_is_refused() {
        let path = format!("/k8s.io/{ID}");
        assert_eq!(outcome(&format!("3:memory:{path}\n0::/\n")), Err(Refusal::Cgroup));
        assert_eq!(outcome(&format!("4:rdma:/\n3:memory:{path}\n2:misc:/\n0::/\n")), Err(Refusal::Cgroup));
        // Not mounted here, so that nobody could join it.
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:{path}\n0::/\n")), Err(Refusal::Cgroup));
    }
}
