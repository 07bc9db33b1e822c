import { existsSync } from 'node:fs';
import { findEngine } from '../containers/engine.ts';
import { tryCommand } from '../containers/run-command.ts';

/** What a cluster needs that this machine does not have, in words. */
export async function findMissing(): Promise<string[]> {
  const packages = { containerd: 'containerd', runc: 'runc', ipset: 'ipset', conntrack: 'conntrack', iptables: 'iptables', go: 'golang' };
  const commands: Record<string, string> = { ...packages, openssl: 'openssl', nsenter: 'util-linux', ip: 'iproute2' };
  const found = await Promise.all(
    Object.keys(commands).map(async (name) => (await tryCommand('sh', ['-c', `command -v ${name}`])).code === 0),
  );
  const absent = Object.values(commands).filter((_, index) => !found[index]);
  if (!existsSync('/usr/lib/cni/bridge')) absent.push('containernetworking-plugins');
  const engine = await findEngine();
  return [
    ...(process.getuid?.() === 0 ? [] : ['the rights of root']),
    // Kubernetes after 1.34 needs version 2 of them; the nodes are made for version 1.
    ...(existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes') ? [] : ['version 1 of cgroups']),
    ...('missing' in engine ? [`a container engine (${engine.missing})`] : []),
    ...(absent.length > 0 ? [`the Debian packages ${absent.join(' ')}`] : []),
  ];
}
