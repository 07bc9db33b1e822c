import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment, loadToolConfig } from '../../../base/config/local.ts';
import { runCommand } from '../containers/run-command.ts';

const version = 'v1.34.4';
/** The image that holds the namespaces of a pod. */
export const pause = 'sheaf-pause:1';
const names = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'network-policies',
];

/** The directory with Kubernetes' programs, which are built of Go modules the first time and kept in the user's cache; and the image `pause`. */
export async function buildPrograms(note: (line: string) => void): Promise<string> {
  const directory = join(loadToolConfig(inheritedEnvironment()).cacheDir, 'kubernetes', version);
  const build = (output: string, of: string) => {
    const set = Object.entries({ gitVersion: version, gitMajor: '1', gitMinor: '34' });
    const flags = ['-s -w', ...set.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)].join(' ');
    const args = ['build', '-p', '1', '-trimpath', '-ldflags', flags, '-o', output, of];
    return runCommand('nice', ['go', ...args], { cwd: join(import.meta.dirname, 'programs'), env: { CGO_ENABLED: '0' } });
  };
  if (!existsSync(directory)) {
    note('Building Kubernetes, once, for half an hour …');
    const unfinished = `${directory}.${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    await build(join(unfinished, 'kubernetes'), '.');
    await build(join(unfinished, 'pause'), './pause');
    for (const name of names) symlinkSync('kubernetes', join(unfinished, name));
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  }
  const image = ['-c', 'ENTRYPOINT ["/pause"]', '-c', 'USER 65535:65535', '-', pause];
  await runCommand('bash', ['-c', 'tar -C "$0" -c pause | docker import "$@"', directory, ...image]);
  return directory;
}
