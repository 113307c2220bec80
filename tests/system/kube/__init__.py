"""``probelet.kube`` against etcd and a real kube-apiserver on loopback."""
