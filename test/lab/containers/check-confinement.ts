import { type CheckResult, check, same } from './check.ts';
import { type Compose, steps } from './compose.ts';
import type { Deployment } from './deployment.ts';
import { runCommand } from './run-command.ts';

const reached = 0;
const notReached = 3;

/** A process in a container, with its namespaces of user and network. */
interface Program {
  command: string;
  namespaces: string[];
}

/** Prints the programs of a container. */
const listPrograms = `
  const { readdirSync, readFileSync, readlinkSync } = require('node:fs');
  const programs = readdirSync('/proc').filter(Number).flatMap((pid) => {
    try {
      const namespaces = ['user', 'net'].map((kind) => readlinkSync('/proc/' + pid + '/ns/' + kind));
      return [{ command: readFileSync('/proc/' + pid + '/cmdline', 'utf8'), namespaces }];
    } catch {
      return [];
    }
  });
  console.log(JSON.stringify(programs));`;

/** Whether a container of a service gets a connection to `host:port`. Throws if that could not be tried there. */
export async function isReached(compose: Pick<Compose, 'exec'>, service: string, target: string): Promise<boolean> {
  const [host, port] = target.split(':');
  const script = `require('node:net').connect(${port},'${host}').on('connect',()=>process.exit(${reached})).on('error',()=>process.exit(${notReached}));setTimeout(()=>process.exit(${notReached}),3000)`;
  const { code, stderr } = await compose.exec(service, 'node', '--eval', script);
  if (code !== reached && code !== notReached)
    throw new Error(`${service} could not try ${target}, and ended with ${code}: ${stderr.trim()}`);
  return code === reached;
}

/** What an AI service says in its log that its readers are not kept from. Throws unless the log tells of a start. */
function readMissingIsolation(log: string): string[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  const entries: { msg?: string; missing?: string[] }[] = lines.map((line) => JSON.parse(line));
  if (!entries.some(({ msg }) => msg === 'The AI service is listening.'))
    throw new Error('the AI service does not say that it has started');
  return [...new Set(entries.flatMap(({ missing = [] }) => missing))];
}

/** Checks, in the containers that run, what they may do to the machine, to each other and to the databases. */
export async function checkConfinement({ compose, databasePassword, secrets }: Deployment): Promise<CheckResult[]> {
  const containers = (await compose.list()).filter(({ service }) => !steps.includes(service));
  const services = containers.map(({ service }) => service);
  const inspected = await Promise.all(
    containers.map(async ({ id, service }) => ({ service, ...JSON.parse(await runCommand('docker', ['inspect', id]))[0] })),
  );
  const expectConnection = async (service: string, target: string, wanted: boolean) =>
    same(`${service} reaches ${target}`, await isReached(compose, service, target), wanted);
  return [
    await check('no container runs as root', async () => {
      const users = await Promise.all(services.map(async (service) => (await compose.exec(service, 'id', '-u')).stdout.trim()));
      const roots = services.filter((_, index) => !/^[1-9]\d*$/.test(users[index] ?? ''));
      same('as root', roots, []);
      return services.map((service, index) => `${service} ${users[index]}`).join(', ');
    }),
    await check('root file systems are read-only', async () => {
      const writable = inspected.filter(({ HostConfig }) => !HostConfig.ReadonlyRootfs).map(({ service }) => service);
      same('writable', writable, ['temporal-ui']);
      const { code } = await compose.exec('api', 'touch', '/app/api/new');
      if (code === 0) throw new Error('the API can write into /app');
      const volumes = inspected.flatMap(({ service, Mounts }) =>
        Mounts.filter(({ RW }: { RW: boolean }) => RW).map(({ Destination }: { Destination: string }) => `${service} ${Destination}`),
      );
      // The profile wal reads what Postgres writes through its socket.
      const ofPostgres = ['postgres /var/lib/postgresql', 'postgres /var/run/postgresql'];
      same('writable volumes', volumes.sort(), ['api /data', ...ofPostgres, 'worker /data']);
      return "all but that of Temporal's UI";
    }),
    await check('bounded: memory, processors, processes, logs', async () => {
      for (const { service, HostConfig } of inspected) {
        const { Memory, NanoCpus, PidsLimit, CapDrop, LogConfig } = HostConfig;
        same(
          service,
          [Memory > 0, NanoCpus > 0, PidsLimit > 0, CapDrop, 'max-size' in LogConfig.Config],
          [true, true, true, ['ALL'], true],
        );
      }
      return inspected.map(({ service, HostConfig }) => `${service} ${HostConfig.Memory / 2 ** 20} MiB`).join(', ');
    }),
    await check('networks: who reaches whom', async () => {
      await expectConnection('api', 'postgres:5432', true);
      await expectConnection('api', 'ai:8000', true);
      await expectConnection('ai', 'postgres:5432', false);
      await expectConnection('ai', 'temporal:7233', false);
      await expectConnection('ai', '1.1.1.1:443', false);
      return 'the AI service reaches neither database, Temporal nor the internet';
    }),
    await check('roles of the database', async () => {
      const roles = await compose.query(
        "select rolname from pg_roles where rolname in ('sheaf', 'temporal') and (rolsuper or rolcreatedb and rolname <> 'sheaf' or rolcreaterole or rolreplication or rolbypassrls)",
      );
      same('roles with rights', roles, []);
      const enter = async (database: string) =>
        (await compose.exec('postgres', 'psql', `postgres://sheaf:${databasePassword}@127.0.0.1/${database}`, '--command=select 1')).code;
      same('the service in its database', await enter('sheaf'), 0);
      for (const database of ['temporal', 'temporal_visibility', 'postgres']) same(database, await enter(database), 2);
      return 'no superuser, and the service cannot enter the databases of Temporal';
    }),
    await check('secrets are in files', async () => {
      const telling = inspected.filter(({ Config }) => Config.Env?.some((line: string) => secrets.some((secret) => line.includes(secret))));
      same(
        'shows a secret',
        telling.map(({ service }) => service),
        [],
      );
      return "not in the environment of a container, but for Temporal's password";
    }),
    await check('pgvector', async () => {
      const [version] = await compose.query("select extversion from pg_extension where extname = 'vector'");
      if (version === undefined) throw new Error('the extension is missing');
      return version;
    }),
    await check('readers of documents', async () => {
      same('not kept from', readMissingIsolation(await compose.run('logs', '--no-log-prefix', 'ai')), []);
      const programs: Program[] = JSON.parse((await compose.exec('ai', 'node', '--eval', listPrograms)).stdout);
      const service = programs.find(({ command }) => command.includes('ai/main.ts'));
      const readers = programs.filter(({ command }) => command.includes('child.ts'));
      if (!service || readers.length === 0) throw new Error(`there is no reader: ${JSON.stringify(programs)}`);
      const sharing = readers.filter(({ namespaces }) => namespaces.some((one) => service.namespaces.includes(one)));
      same('in a namespace of the service', sharing, []);
      return `${readers.length}, each in namespaces of user and network of its own`;
    }),
  ];
}
