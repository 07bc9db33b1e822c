import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { type CommandResult, runCommand, tryCommand } from '../containers/run-command.ts';

const here = import.meta.dirname;
const address = '10.10.0.1';

/** Kubernetes of several nodes on this machine, each in namespaces of its own. Needs root. */
export class Cluster {
  readonly #directory: string;
  readonly #programs: string;
  readonly #machines = new Map<string, { started: ChildProcess; pid: string }>();

  /** `directory` gets what it writes, `programs` is where those of Kubernetes are. */
  constructor(directory: string, programs: string) {
    this.#directory = directory;
    this.#programs = programs;
  }

  /** The certificate of who signed those of the cluster and of the edge. */
  get authority(): string {
    return join(this.#directory, 'pki/ca.crt');
  }

  /** Starts the control plane, and waits until it is ready. */
  async start(): Promise<void> {
    mkdirSync(join(this.#directory, 'pki'), { recursive: true });
    await this.#makeKey('ca', ['-subj', '/CN=sheaf-cluster']);
    const names = ['kubernetes.default.svc', 'kubernetes'].map((name) => `DNS:${name}`);
    await this.issue('apiserver', '/CN=apiserver', [...names, 'IP:10.96.0.1', `IP:${address}`].join());
    await this.issue('accounts', '/CN=accounts');
    await this.issue('aggregator', '/CN=aggregator');
    await this.issue('admin', '/O=system:masters/CN=admin');
    this.#writeAccess('admin');
    await this.#startMachine('control', ['control.sh', this.#directory, this.#programs, process.execPath]);
    await this.until('the control plane is ready', async () => (await this.try('get', '--raw', '/readyz')).code === 0);
  }

  /** Starts a node, gives it images of Docker, and waits until it takes pods. */
  async addNode(number: number, images: string[]): Promise<void> {
    const name = `node${number}`;
    mkdirSync(join(this.#directory, name), { recursive: true });
    await this.issue(name, `/O=system:nodes/CN=system:node:${name}`);
    this.#writeAccess(name);
    const pid = await this.#startMachine(name, ['node.sh', this.#directory, this.#programs, String(number)]);
    const control = this.#pidOf('control');
    await runCommand('ip', ['link', 'add', `v${number}`, 'netns', control, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid]);
    await this.at('control', 'ip', 'link', 'set', `v${number}`, 'master', 'nodes', 'up');
    await this.until('containerd is there', async () => (await this.tryAt(name, 'ctr', 'version')).code === 0);
    await runCommand('bash', [
      ...['-c', 'set -o pipefail; pid=$1; shift; docker save "$@" | nsenter -t "$pid" -n -m -p -u -- ctr -n k8s.io images import -'],
      ...['import', pid, ...images],
    ]);
    await this.until(`${name} is ready`, async () => (await this.try('wait', '--for=condition=Ready', `node/${name}`)).code === 0);
  }

  /** Ends all that runs on a node at once, as a loss of power does. */
  loseNode(name: string): void {
    this.#machines.get(name)?.started.kill('SIGKILL');
    this.#machines.delete(name);
  }

  /** Runs a command of kubectl. Throws with its messages if it fails. */
  kubectl(...args: string[]): Promise<string> {
    return this.at('control', ...this.#kubectl(args));
  }

  try(...args: string[]): Promise<CommandResult> {
    return this.tryAt('control', ...this.#kubectl(args));
  }

  /** Applies manifests. */
  async apply(manifests: string, ...options: string[]): Promise<void> {
    const [command = '', ...args] = this.command('control', ...this.#kubectl(['apply', ...options, '-f', '-']));
    await runCommand(command, args, { input: manifests });
  }

  /** Runs a program on one of the machines, `control` or `node1`. Throws with its messages if it fails. */
  at(machine: string, ...command: string[]): Promise<string> {
    const [first = '', ...args] = this.command(machine, ...command);
    return runCommand(first, args);
  }

  tryAt(machine: string, ...command: string[]): Promise<CommandResult> {
    const [first = '', ...args] = this.command(machine, ...command);
    return tryCommand(first, args);
  }

  /** The command that runs a program on one of the machines. */
  command(machine: string, ...command: string[]): string[] {
    return ['nsenter', '-t', this.#pidOf(machine), '-n', '-m', '-p', '-u', '--', ...command];
  }

  /** What a program needs to reach the cluster as its administrator. */
  get access(): string {
    return join(this.#directory, 'pki/admin.conf');
  }

  /** Waits for a condition, up to five minutes. Throws with its name if it does not come. */
  async until(what: string, isTrue: () => Promise<boolean>, seconds = 300): Promise<void> {
    for (const end = Date.now() + 1_000 * seconds; !(await isTrue()); await delay(1_000))
      if (Date.now() > end) throw new Error(`It did not happen in ${seconds} s that ${what}.`);
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    for (const { started } of this.#machines.values()) started.kill('SIGKILL');
    await delay(2_000);
    await tryCommand('find', ['/sys/fs/cgroup', '-depth', '-type', 'd', '-path', '*/sheaf-cluster*', '-exec', 'rmdir', '{}', ';']);
  }

  /** Makes a key, and a certificate for it that the cluster's authority signs: `pki/<name>.key` and `.crt`. */
  async issue(name: string, subject: string, alternatives?: string): Promise<void> {
    const { authority } = this;
    const names = alternatives === undefined ? [] : ['-addext', `subjectAltName=${alternatives}`];
    const uses = ['-addext', 'extendedKeyUsage=serverAuth,clientAuth', '-addext', 'basicConstraints=CA:FALSE'];
    await this.#makeKey(name, ['-subj', subject, ...uses, ...names, '-CA', authority, '-CAkey', authority.replace(/crt$/, 'key')]);
  }

  async #makeKey(name: string, args: string[]): Promise<void> {
    const file = join(this.#directory, 'pki', name);
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${file}.key`];
    await runCommand('openssl', ['req', '-x509', '-days', '30', ...key, '-out', `${file}.crt`, ...args]);
  }

  #writeAccess(name: string): void {
    const file = join(this.#directory, 'pki', name);
    const cluster = { server: `https://${address}:6443`, 'certificate-authority': this.authority };
    const user = { 'client-certificate': `${file}.crt`, 'client-key': `${file}.key` };
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'it' },
      ...{
        clusters: [{ name: 'it', cluster }],
        users: [{ name: 'it', user }],
        contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
      },
    };
    writeFileSync(`${file}.conf`, JSON.stringify(config));
  }

  /** Starts the first process of a machine, and returns its id here. */
  async #startMachine(name: string, [script = '', ...args]: string[]): Promise<string> {
    mkdirSync(join(this.#directory, name), { recursive: true });
    const log = openSync(join(this.#directory, name, 'machine.log'), 'a');
    const own = ['--net', '--mount', '--pid', '--uts', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
    const started = spawn('unshare', [...own, 'bash', join(here, script), ...args], {
      ...{ detached: true, stdio: ['ignore', log, log], env: inheritedEnvironment() },
    });
    let pid = '';
    await this.until(`${name} runs`, async () => {
      pid = readFileSync(`/proc/${started.pid}/task/${started.pid}/children`, 'utf8').trim();
      return pid !== '';
    });
    this.#machines.set(name, { started, pid });
    return pid;
  }

  #pidOf(machine: string): string {
    return this.#machines.get(machine)?.pid ?? '';
  }

  #kubectl(args: string[]): string[] {
    return [join(this.#programs, 'kubectl'), '--kubeconfig', this.access, ...args];
  }
}
