"""What `probelet controller` costs in a large cluster: on a real kube-apiserver, and its decision by itself."""
