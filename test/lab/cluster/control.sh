#!/bin/bash
# The control plane of a cluster, the first process in namespaces of its own: `control.sh DIRECTORY PROGRAMS NODE`. PROGRAMS is where they are,
# NODE runs the name server. What it starts is started again when it ends, and writes into DIRECTORY/control.
directory=$1 programs=$2 node=$3 pki=$1/pki logs=$1/control
address=10.10.0.1
hostname control
ip link set lo up
ip link add nodes type bridge
ip addr add $address/24 dev nodes
ip link set nodes up
for number in 1 2 3; do ip route add 10.244.$number.0/24 via 10.10.0.1$number; done
sysctl -qw net.ipv4.ip_forward=1
# The browser's name of the service, at the port of a node.
printf '127.0.0.1 localhost\n10.10.0.11 sheaf.test\n' >"$logs/hosts"
mount --bind "$logs/hosts" /etc/hosts

keep() {
  local log=$logs/$1.log
  shift
  while :; do "$@" >>"$log" 2>&1; sleep 1; done &
}
access=(--kubeconfig "$pki/admin.conf" --authentication-kubeconfig "$pki/admin.conf" --authorization-kubeconfig "$pki/admin.conf" --leader-elect=false)
services=10.96.0.0/16
keep etcd "$programs/etcd" --data-dir "$logs/etcd" --unsafe-no-fsync
keep apiserver "$programs/kube-apiserver" --etcd-servers http://127.0.0.1:2379 --advertise-address $address --service-cluster-ip-range $services \
  --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --allow-privileged --kubelet-preferred-address-types InternalIP \
  --client-ca-file "$pki/ca.crt" --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
  --kubelet-client-certificate "$pki/admin.crt" --kubelet-client-key "$pki/admin.key" \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$pki/accounts.crt" \
  --service-account-signing-key-file "$pki/accounts.key" \
  --requestheader-client-ca-file "$pki/ca.crt" --requestheader-allowed-names aggregator --requestheader-username-headers X-Remote-User \
  --requestheader-group-headers X-Remote-Group --requestheader-extra-headers-prefix X-Remote-Extra- --enable-aggregator-routing \
  --proxy-client-cert-file "$pki/aggregator.crt" --proxy-client-key-file "$pki/aggregator.key"
keep controllers "$programs/kube-controller-manager" "${access[@]}" --service-cluster-ip-range $services --root-ca-file "$pki/ca.crt" \
  --service-account-private-key-file "$pki/accounts.key"
keep scheduler "$programs/kube-scheduler" "${access[@]}"
keep names "$node" "$(dirname "$0")/names.ts" $address "$pki"
wait
