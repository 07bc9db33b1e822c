#!/bin/bash
# A node of a cluster, the first process in namespaces of its own: `node.sh DIRECTORY PROGRAMS NUMBER`. It waits for its network, which who
# starts it connects. What it starts is started again when it ends, and writes into DIRECTORY/nodeNUMBER.
directory=$1 programs=$2 number=$3 name=node$3 own=$1/node$3 pki=$1/pki
hostname "$name"

# What containerd and the kubelet write is the node's own.
mount -t tmpfs tmpfs /run
for each in lib/kubelet lib/containerd lib/cni log/pods log/containers; do
  mkdir -p "$own/$each" "/var/$each"
  mount --bind "$own/$each" "/var/$each"
done
# The kubelet would set these for the whole machine: it finds them as it wants them.
while read -r setting value; do
  echo "$value" >"$own/$(basename "$setting")"
  mount --bind "$own/$(basename "$setting")" "/proc/sys/$setting"
done <<END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END
mount --make-rshared /
for each in /sys/fs/cgroup/*/; do
  [ "$each" != /sys/fs/cgroup/unified/ ] || continue
  for group in "${each}sheaf-cluster" "${each}sheaf-cluster/$name"; do
    mkdir -p "$group"
    if [ -e "$group/cpuset.cpus" ]; then
      cat "${each}cpuset.cpus" >"$group/cpuset.cpus"
      cat "${each}cpuset.mems" >"$group/cpuset.mems"
    fi
  done
done

ip link set lo up
until ip link set eth0 up 2>/dev/null; do sleep 0.1; done
ip addr add 10.10.0.1$number/24 dev eth0
ip route add default via 10.10.0.1
sysctl -qw net.ipv4.ip_forward=1
mkdir -p "$own/networks" /run/netns
cat >"$own/networks/pods.conflist" <<END
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.244.$number.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } }] }
END
# A container without the right to lower its score for the killer of processes must not try to.
cat >"$own/containerd.toml" <<END
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/sheaf-pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$own/networks"
END
cat >"$own/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { anonymous: { enabled: false }, x509: { clientCAFile: $pki/ca.crt } }
authorization: { mode: AlwaysAllow }
cgroupDriver: cgroupfs
cgroupRoot: /sheaf-cluster/$name
clusterDNS: [10.10.0.1]
clusterDomain: cluster.local
resolvConf: ""
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
failSwapOn: false
evictionHard: { memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1% }
imageMaximumGCAge: 0s
imageGCHighThresholdPercent: 100
END
cat >"$own/proxy.yaml" <<END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: { kubeconfig: $pki/admin.conf }
hostnameOverride: $name
mode: iptables
clusterCIDR: 10.244.0.0/16
conntrack: { maxPerCore: 0, min: 0 }
END

keep() {
  local log=$own/$1.log
  shift
  while :; do "$@" >>"$log" 2>&1; sleep 1; done &
}
keep containerd containerd --config "$own/containerd.toml"
keep kubelet "$programs/kubelet" --config "$own/kubelet.yaml" --kubeconfig "$pki/$name.conf" --hostname-override "$name" --node-ip 10.10.0.1$number
keep proxy "$programs/kube-proxy" --config "$own/proxy.yaml"
keep network-policies "$programs/network-policies" --kubeconfig "$pki/admin.conf" --hostname-override "$name" \
  --service-cluster-ip-range 10.96.0.0/16
wait
