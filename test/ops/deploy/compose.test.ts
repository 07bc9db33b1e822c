import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { loadAiServiceConfig } from '../../../base/config/ai-service.ts';
import type { Environment } from '../../../base/config/environment.ts';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { secretVariables } from '../../../base/config/secret-files.ts';
import { loadServerConfig } from '../../../base/config/server.ts';
import { variables } from '../../../base/config/variables.ts';
import { extraKinds as extraContentTypes } from '../../../contract/content-types.ts';
import { memoryEnvironment, memoryFlags } from '../../../ops/local/services.ts';
import { dynamicSettings } from '../../../ops/local/temporal.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

interface Service {
  image: string;
  entrypoint?: string[];
  command?: string[];
  profiles?: string[];
  network_mode?: string;
  environment?: Environment;
  volumes?: string[];
  user?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  cpus?: string | number;
  cpu_shares?: number;
  pids_limit?: number;
  logging?: { options: Environment };
  networks?: string[];
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  build?: object;
  pull_policy?: string;
  ports?: string[];
  healthcheck?: object;
}

const compose: { services: Record<string, Service>; networks: Record<string, { internal?: unknown } | null> } = parse(
  readFileSync('docker-compose.yml', 'utf8'),
  { merge: true },
);
/** What ops/deploy/env.example asks for. */
const filledIn = {
  POSTGRES_PASSWORD: 'd4e5f6',
  DATABASE_PASSWORD: 'a1b2c3',
  TEMPORAL_DATABASE_PASSWORD: 'f7a8b9',
  AUTH_SECRET: '0123456789abcdef'.repeat(4),
  SERVICE_TOKEN: 'fedcba9876543210'.repeat(4),
  API_URL: 'http://localhost:8080',
  SMTP_URL: 'smtp://mail',
  EMAIL_FROM: 'Sheaf <no-reply@example.com>',
};
/** Read by OpenTelemetry's SDK, in every program. */
const ofOpenTelemetry = [
  'SERVICE_NAME',
  'RESOURCE_ATTRIBUTES',
  ...['CERTIFICATE', 'TIMEOUT', 'COMPRESSION'].map((name) => `EXPORTER_OTLP_${name}`),
].map((name) => `OTEL_${name}`);
/** Read by the client of Google's storage. */
const ofGoogle = ['GOOGLE_APPLICATION_CREDENTIALS'];
const own = Object.entries(compose.services).filter(
  ([name, { image, profiles }]) => /^sheaf(-ai)?:/.test(image) && !profiles && name !== 'secrets',
);

describe('docker-compose.yml', () => {
  it('gives each program only variables that it reads', () => {
    expect(own.map(([name]) => name)).to.have.members(['migrate', 'api', 'worker', 'ai']);
    for (const [name, { environment }] of own) {
      const known = [...(name === 'ai' ? variables.aiService : [...variables.server, ...ofGoogle]), ...ofOpenTelemetry];
      const inFiles = secretVariables.filter((secret) => known.includes(secret)).map((secret) => `${secret}_FILE`);
      expect([...known, ...inFiles], name).to.include.members(Object.keys(environment ?? {}));
    }
  });

  for (const [title, name, settled] of [
    ['API and worker', 'api', ['NODE_ENV', 'PORT', 'HOST', 'TRUST_PROXY', 'DATA_DIR', 'WORKER_ENABLED']],
    ['AI service', 'ai', ['NODE_ENV', 'HOST', 'AI_PORT', 'SERVICE_AUTH_DISABLED']],
  ] as const)
    it(`lets .env set every variable that docs/configuration.md lists for ${title}, in a file too if it is a secret`, () => {
      const names = documented(title).filter((variable) => !(settled as readonly string[]).includes(variable));
      const inFiles = names.filter((variable) => secretVariables.includes(variable)).map((variable) => `${variable}_FILE`);
      expect(inFiles).not.to.deep.equal([]);
      const environment = compose.services[name]?.environment ?? {};
      for (const variable of [...names, ...inFiles]) {
        const given = interpolate({ [variable]: environment[variable] }, { ...filledIn, [variable]: `set ${variable}` });
        expect(given, variable).to.deep.equal({ [variable]: `set ${variable}` });
      }
    });

  it('gives the worker and the migration what it gives the API', () => {
    const { WORKER_ENABLED, ...ofApi } = compose.services.api?.environment ?? {};
    expect(WORKER_ENABLED).to.equal('false');
    for (const name of ['worker', 'migrate']) expect(compose.services[name]?.environment, name).to.deep.equal(ofApi);
  });

  it('lets the AI service make only the namespaces in which its readers begin, and see the memory of no other program', () => {
    const { defaultAction, syscalls } = JSON.parse(readFileSync('ops/deploy/ai-seccomp.json', 'utf8'));
    expect(defaultAction).to.equal('SCMP_ACT_ERRNO');
    const rulesOf = (call: string) => syscalls.filter(({ names }: { names: string[] }) => names.includes(call));
    const [newNamespaces, newUser, newNetwork] = [0x7e020000, 0x10000000, 0x40000000];
    expect(rulesOf('unshare').map(({ args }: any) => args)).to.deep.equal([[{ index: 0, value: newUser + newNetwork, op: 'SCMP_CMP_EQ' }]]);
    const none = { index: 0, value: newNamespaces, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
    expect(rulesOf('clone').map(({ args }: any) => args)).to.deep.equal([[none]]);
    expect(rulesOf('clone3').map(({ action, errnoRet }: any) => [action, errnoRet])).to.deep.equal([['SCMP_ACT_ERRNO', 38]]);
    const refused = ['setns', 'mount', 'ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'bpf', 'keyctl', 'io_uring_setup'];
    for (const call of refused) expect(rulesOf(call), call).to.deep.equal([]);
  });

  it('takes root, capabilities, memory, processors, processes and room for logs from every container', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect(service.cap_drop, name).to.deep.equal(['ALL']);
      const profile = name === 'ai' ? ['seccomp=./ops/deploy/ai-seccomp.json'] : [];
      expect(service.security_opt, name).to.deep.equal(['no-new-privileges:true', ...profile]);
      expect(service.mem_limit, name).to.match(/^(\$\{[A-Z_]+:-\d+[mg]\}|\d+[mg])$/);
      expect(String(service.cpus), name).to.match(/^(\$\{[A-Z_]+:-\d\}|\d)$/);
      expect(service.pids_limit, name).to.be.a('number');
      expect(service.logging?.options, name).to.have.keys('max-size', 'max-file');
    }
    expect(readFileSync('ops/deploy/Dockerfile', 'utf8')).to.match(/^USER node$/m);
    for (const name of ['edge', 'postgres', 'databases']) expect(compose.services[name]?.user, name).to.be.a('string');
    // Temporal's UI writes its configuration into its own file system.
    const writable = Object.keys(compose.services).filter((name) => !compose.services[name]?.read_only);
    expect(writable).to.deep.equal(['temporal-ui']);
  });

  it('fits into the memory of the host that its page names, with a quarter of it left', () => {
    const once = ['secrets', 'databases', 'temporal-schema', 'temporal-namespace', 'migrate'];
    const running = Object.entries(compose.services).filter(([name, { profiles }]) => !profiles && !once.includes(name));
    const gigabytes = running.map(([, { mem_limit: limit = '' }]) => {
      const [, size, unit] = /^(\d+)([mg])$/.exec(fill(limit, {})) ?? [];
      return Number(size) / (unit === 'm' ? 1_024 : 1);
    });
    const sum = gigabytes.reduce((before, each) => before + each, 0);
    const page = readFileSync('docs/deploy.md', 'utf8');
    const [, host, together] = /(\d+) GB of memory \(the containers may take ([\d.]+) GB together/.exec(page) ?? [];
    expect(together).to.equal(sum.toFixed(1));
    expect(sum).to.be.at.most(0.75 * Number(host));
  });

  it('asks no registry for the images that are built here', () => {
    const built = Object.values(compose.services).filter(({ image }) => image.startsWith('sheaf'));
    expect(new Set(built.map(({ pull_policy: policy }) => policy))).to.deep.equal(new Set(['never']));
  });

  it('makes the databases and migrates in steps of their own, which the others wait for', () => {
    const done = 'service_completed_successfully';
    for (const name of ['migrate', 'temporal-schema'])
      expect(compose.services[name]?.depends_on, name).to.deep.equal({ databases: { condition: done } });
    const { temporal, 'temporal-schema': schema, 'temporal-namespace': namespace, worker } = compose.services;
    expect(temporal?.depends_on).to.deep.equal({ 'temporal-schema': { condition: done } });
    expect(namespace?.depends_on).to.deep.equal({ temporal: { condition: 'service_healthy' } });
    expect(worker?.depends_on?.['temporal-namespace']).to.deep.equal({ condition: done });
    for (const step of [schema, namespace]) expect(versionOf(step)).to.equal(versionOf(temporal));
    expect(compose.services.migrate?.command).to.deep.equal(['node', 'ops/main.ts', 'migrate']);
    for (const name of ['api', 'worker'])
      expect(compose.services[name]?.depends_on?.migrate, name).to.deep.equal({ condition: 'service_completed_successfully' });
  });

  it('is documented with a backup and a restore that start nothing else, and so migrate nothing', () => {
    const commands = readFileSync('docs/deploy.md', 'utf8').matchAll(/^docker compose run (.*) node ops\/main\.ts (backup|restore) /gm);
    const run = [...commands].map(([, options = '', command = '']) => ({ command, options: options.split(' ') }));
    expect(run.map(({ command }) => command)).to.include.members(['backup', 'restore']);
    for (const { command, options } of run) {
      expect(options, command).to.include.members(['--rm', '--no-deps', '-v']);
      expect(Object.keys(compose.services), command).to.include(options.at(-1));
    }
  });

  it('is documented with a restore before the first worker, whose start would take the store', () => {
    const blocks = [...readFileSync('docs/deploy.md', 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) =>
      block.trim().split('\n'),
    );
    const restores = blocks.filter((lines) => lines.some((line) => / restore \S+$/.test(line)));
    expect(restores).to.have.length(1);
    for (const line of restores[0] ?? []) {
      if (/ restore /.test(line)) break;
      // Neither `up` nor what depends on the worker.
      expect(line).to.match(/^docker compose (build|run --rm databases)$/);
    }
    expect(compose.services.databases?.depends_on).to.deep.equal({ postgres: { condition: 'service_healthy' } });
  });

  it('lets .env say how long a container of the service may take to stop, which is longer than it waits', () => {
    for (const [name, { stop_grace_period: period = '' }] of own) {
      expect(fill(period, { STOP_GRACE_PERIOD: '2m' }), name).to.equal('2m');
      const [, seconds = ''] = /^(\d+)s$/.exec(fill(period, {})) ?? [];
      const { worker, shutdownDelayMs } = loadServerConfig(interpolate(compose.services.worker?.environment, filledIn));
      expect(Number(seconds) * 1_000, name).to.be.at.least(Math.max(worker.shutdownGraceMs, shutdownDelayMs) + 10_000);
    }
  });

  it('keeps the database from the edge, and the database and the internet from the AI service', () => {
    const networksOf = (name: string) => compose.services[name]?.networks;
    for (const name of ['edge', 'edge-tls', 'edge-acme']) expect(networksOf(name)).to.deep.equal(['front']);
    expect(networksOf('ai')).to.deep.equal(['ai']);
    expect(networksOf('postgres')).to.deep.equal(['data']);
    expect(compose.networks.data?.internal).to.equal(true);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as compose writes a default.
    expect(compose.networks.ai?.internal).to.equal('${AI_OFFLINE:-true}');
  });

  it('makes backups in a directory of the host or where .env says, with the keys of the library of Amazon if these are set', () => {
    const { backup } = compose.services;
    expect(backup?.profiles).to.deep.equal(['backup']);
    expect(backup?.volumes?.map((volume) => fill(volume, {}))).to.include('/srv/backups:/backups');
    const script = backup?.command?.at(-1) ?? '';
    expect(fill(script, {})).to.include('backup /backups --keep 14;');
    expect(fill(script, { BACKUP_TARGET: 's3://of/mine', BACKUP_KEEP: '3' })).to.include('backup s3://of/mine --keep 3;');
    const ofAmazon = Object.entries(backup?.environment ?? {}).filter(([name]) => name.startsWith('AWS_'));
    expect(ofAmazon.map(([, value]) => value)).to.deep.equal([null, null, null, null]);
  });

  it('keeps the log of Postgres by its socket with a profile only, on the host, without a network', () => {
    const { wal, postgres } = compose.services;
    expect(wal).to.deep.include({ profiles: ['wal'], network_mode: 'none', image: postgres?.image, command: ['keep'] });
    const socket = 'postgres-socket:/var/run/postgresql';
    expect(postgres?.volumes).to.include(socket);
    expect(wal?.volumes?.map((volume) => fill(volume, {}))).to.include.members([socket, '/srv/wal:/wal']);
    expect(postgres?.command, 'a bound while it is away').to.include('max_slot_wal_keep_size=8GB');
  });

  it('has an edge that gets its certificate itself for the domain of .env, with everything else as the one with TLS has it', () => {
    const { 'edge-tls': secure, 'edge-acme': acme } = compose.services;
    const { profiles, command = [], environment, tmpfs, volumes = [], ...same } = acme ?? {};
    expect(profiles).to.deep.equal(['acme']);
    expect(secure).to.deep.include(same);
    expect(command.at(-1)).to.equal('daemon off; load_module modules/ngx_http_acme_module.so;');
    const given = interpolate(environment, { ACME_DOMAIN: 'sheaf.example.com' });
    expect(given).to.deep.equal({ ACME_DOMAIN: 'sheaf.example.com', NGINX_ENVSUBST_OUTPUT_DIR: '/etc/nginx/edge' });
    expect(tmpfs).to.include(given.NGINX_ENVSUBST_OUTPUT_DIR);
    const mounted = volumes.map((volume) => fill(volume, {}));
    expect(mounted).to.include('./ops/deploy/edge/acme.conf.template:/etc/nginx/templates/listen.conf.template:ro');
    const issuer = readFileSync('ops/deploy/edge/acme-issuer.conf', 'utf8');
    expect(mounted).to.include(`./ops/deploy/secrets/acme:${/state_path (\S+);/.exec(issuer)?.[1]}`);
    const listens = readFileSync('ops/deploy/edge/acme.conf.template', 'utf8');
    expect(/acme_certificate (\w+) \$\{ACME_DOMAIN\};/.exec(listens)?.[1]).to.equal(/acme_issuer (\w+)/.exec(issuer)?.[1]);
    const withFiles = readFileSync('ops/deploy/edge/tls.conf', 'utf8').split('\n');
    expect(listens.split('\n')).to.include.members(withFiles.filter((line) => /^(listen|ssl_(protocols|session))/.test(line)));
  });

  it('runs the main file of each program, with the flags that hold memory low', () => {
    for (const [name, { command }] of own) {
      if (name !== 'migrate') expect(command).to.deep.equal(['node', ...(name === 'ai' ? [] : memoryFlags), `${name}/main.ts`]);
    }
    const dockerfile = readFileSync('ops/deploy/Dockerfile', 'utf8');
    const commands = [...dockerfile.matchAll(/^CMD (.*)$/gm)].map(([, command = '']) => JSON.parse(command));
    expect(commands).to.deep.equal([
      ['node', 'ai/main.ts'],
      ['node', ...memoryFlags, 'api/main.ts'],
    ]);
    const set = /^ENV (.*)$/m.exec(dockerfile)?.[1]?.split(' ') ?? [];
    expect(set).to.include.members(Object.entries(memoryEnvironment).map(([name, value]) => `${name}=${value}`));
  });

  it('names the models where the image has them', () => {
    const [, set = ''] = /^ENV (MODELS_DIR=.*)$/m.exec(readFileSync('ops/deploy/Dockerfile', 'utf8')) ?? [];
    const inImage = Object.fromEntries(set.split(' ').map((each) => each.split('=')));
    expect(inImage).to.have.keys('MODELS_DIR');
    expect(interpolate(compose.services.ai?.environment, {})).to.include(inImage);
  });

  it('puts into the image just the folders that the programs import', () => {
    const files = new Set(['api', 'worker', 'ai', 'ops'].map((name) => `${name}/main.ts`));
    for (const file of files) for (const imported of importsOf(file)) files.add(imported);
    const needed = new Set([...files].map((file) => file.split('/')[0]));
    const ignored = readFileSync('ops/deploy/Dockerfile.dockerignore', 'utf8');
    const held = ignored.matchAll(/^!([a-z]+)$/gm);
    // Without BuildKit, docker knows this name only.
    expect(readlinkSync('.dockerignore')).to.equal('ops/deploy/Dockerfile.dockerignore');
    // The secrets of the host are below it.
    expect(ignored.split('\n').indexOf('ops/deploy')).to.be.greaterThan(ignored.split('\n').indexOf('!ops'));
    // Vite reads the settings of TypeScript, which are those of the root.
    expect(readFileSync('clients/web/tsconfig.json', 'utf8')).to.include('"extends": "../../tsconfig.json"');
    expect(ignored).to.match(/^!tsconfig\.json$/m);
    // The bundle is made of workflows/index.ts, which no file imports; the console of `clients/`.
    expect([...held].map(([, folder]) => folder)).to.have.members(
      [...needed, 'clients', 'workflows'].filter((one, i, all) => all.indexOf(one) === i),
    );
  });

  it('lets a digest stand for the tag of every image that somebody else publishes', () => {
    const published = Object.values(compose.services).filter(({ image }) => !/^sheaf(-ai)?:/.test(image));
    for (const { image } of published) expect(image).to.match(/^\$\{[A-Z_]+_IMAGE:-[\w./-]+:[\w.-]+\}$/);
    const bases = [...readFileSync('ops/deploy/Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a Dockerfile names an argument.
    expect(bases).to.deep.equal(['${NODE_IMAGE}', '${NODE_IMAGE}', 'source', 'source', 'source', '${NODE_IMAGE}', 'base', 'base']);
    for (const { build } of [compose.services.api, compose.services.ai] as Service[])
      expect(JSON.stringify(build)).to.match(/"NODE_IMAGE":"\$\{NODE_IMAGE:-node:[\w.-]+\}"/);
  });

  it('mounts only files that there are', () => {
    const volumes = Object.values(compose.services).flatMap((service) => service.volumes ?? []);
    const mounted = volumes.map((volume) => fill(volume, {}).split(':')[0] ?? '');
    expect(mounted).to.include('./ops/deploy/secrets/ai');
    expect(mounted.filter((path) => path.startsWith('./') && !existsSync(path))).to.deep.equal([]);
  });

  it('starts a trial with nothing set, for this host alone, whose secrets are made once and kept from who does not read them', () => {
    const directory = makeTestDirectory();
    const readers = ['server', 'ai', 'postgres', 'temporal'];
    for (const reader of readers) mkdirSync(join(directory, reader), { recursive: true });
    const script = readFileSync('ops/deploy/make-secrets.sh', 'utf8').replaceAll('/made/', `${directory}/`);
    const make = (env: Environment) =>
      spawnSync('sh', ['-c', script], { env: { PATH: inheritedEnvironment().PATH, API_URL: '', EMAIL_FROM: '', ...env } });
    const made = () => readers.map((reader) => readMade(join(directory, reader)));
    try {
      expect(make(filledIn).status).to.equal(0);
      expect(made(), 'in production').to.deep.equal([{}, {}, {}, {}]);
      expect(make({ API_URL: 'http://localhost' })).to.deep.include({ status: 1, stderr: Buffer.from('EMAIL_FROM must be set\n') });
      expect(String(make({}).stdout)).to.match(/^WARNING: a trial, .*Mails are not sent/);
      const [server = {}, ai = {}, postgres = {}, temporal = {}] = made();
      expect(new Set([...Object.values(postgres), server.AUTH_SECRET, ai.SERVICE_TOKEN])).to.have.lengthOf(5);
      expect(server.SERVICE_TOKEN).to.equal(ai.SERVICE_TOKEN);
      expect(server.DATABASE_URL).to.equal(`postgres://sheaf:${postgres.DATABASE_PASSWORD}@postgres:5432/sheaf`);
      expect(temporal).to.deep.equal({ POSTGRES_PWD: postgres.TEMPORAL_DATABASE_PASSWORD });
      make({});
      expect(made(), 'at the second start').to.deep.equal([server, ai, postgres, temporal]);

      const serverIn = (name: string, env: Environment) =>
        loadServerConfig(runWithSecrets(join(directory, 'server'), interpolate(compose.services[name]?.environment, env)));
      const config = serverIn('api', {});
      expect(config).to.deep.include({ production: false, apiUrl: 'http://localhost:8080', authSecret: server.AUTH_SECRET });
      expect(config.email.provider).to.equal('mailbox');
      expect(config.database.url).to.equal(server.DATABASE_URL);
      const inTrial = (env: Environment) =>
        loadAiServiceConfig(runWithSecrets(join(directory, 'ai'), interpolate(compose.services.ai?.environment, env)));
      expect(config).to.deep.include({ extraContentTypes: Object.values(extraContentTypes) });
      expect(config.searches.defaultMode).to.equal('hybrid');
      for (const name of ['api', 'worker']) {
        const addedIn = (env: Environment) => {
          const { extraJobKinds, webhooks } = serverIn(name, env);
          return [...extraJobKinds, webhooks.enabled];
        };
        const added = [{}, { EXTRA_JOB_KINDS: 'document.extractFields', WEBHOOKS_ENABLED: 'false' }, filledIn].map(addedIn);
        const expected = [['document.process', true], ['document.extractFields', false], [false]];
        expect(added, `${name} in a trial, with both that are set, in production`).to.deep.equal(expected);
      }
      for (const name of ['api', 'worker', 'ai']) {
        const modelOf = (env: Environment) =>
          runWithSecrets(directory, interpolate(compose.services[name]?.environment, env)).LOCAL_EMBED_MODEL;
        const models = [{}, { LOCAL_EMBED_MODEL: 'hash' }, filledIn].map(modelOf);
        expect(models, `${name} in a trial, with a model that is named, in production`).to.deep.equal(['e5,hash', 'hash', '']);
      }
      expect(inTrial({})).to.deep.include({ readsScannedPdfs: true, extraContentTypes: config.extraContentTypes });
      expect(inTrial({ OCR_PROVIDER: 'none', EXTRA_CONTENT_TYPES: 'none' })).to.deep.include({
        readsScannedPdfs: false,
        extraContentTypes: [],
      });
      expect(inTrial(filledIn), 'in production').to.deep.include({ readsScannedPdfs: false, extraContentTypes: [] });
      const own = runWithSecrets(join(directory, 'server'), { AUTH_SECRET: 'set', DATABASE_URL_FILE: '/a/file', DATABASE_URL: '' });
      expect(own).to.include({ AUTH_SECRET: 'set', DATABASE_URL: '', SERVICE_TOKEN: server.SERVICE_TOKEN });
    } finally {
      removeTestDirectory(directory);
    }
    expect(compose.services.edge?.ports?.map((port) => fill(port, {}))).to.deep.equal(['127.0.0.1:8080:8080']);
    for (const [name, reader] of Object.entries({
      migrate: 'server',
      api: 'server',
      worker: 'server',
      ai: 'ai',
      postgres: 'postgres',
      databases: 'postgres',
      'temporal-schema': 'temporal',
      temporal: 'temporal',
    })) {
      const { entrypoint, volumes = [] } = compose.services[name] ?? {};
      expect(entrypoint?.slice(0, 2), name).to.deep.equal(['sh', '/run/with-secrets.sh']);
      expect(
        volumes.filter((volume) => volume.startsWith('made-')),
        name,
      ).to.deep.equal([`made-${reader}:/run/made:ro`]);
    }
  });

  it('configures programs that boot, once ops/deploy/env.example is filled in', () => {
    const env = { ...readExample(), ...filledIn };
    const server = loadServerConfig(interpolate(compose.services.api?.environment, env));
    expect(server).to.include({ production: true, trustProxy: true, apiUrl: 'http://localhost:8080' });
    expect(server.worker.enabled).to.equal(false);
    expect(server.database.url).to.equal('postgres://sheaf:a1b2c3@postgres:5432/sheaf');
    expect(server.trustedOrigins, 'nothing but the desktop shells').to.deep.equal(['tauri://localhost', 'http://tauri.localhost']);
    expect(server.webUrl).to.equal('http://localhost:8080');
    expect(loadServerConfig(interpolate(compose.services.worker?.environment, env)).worker.enabled).to.equal(true);
    expect(loadAiServiceConfig(interpolate(compose.services.ai?.environment, env)).token).to.equal(server.ai.token);
    const open = { ...interpolate(compose.services.ai?.environment, env), SERVICE_AUTH_DISABLED: 'true' };
    expect(() => loadAiServiceConfig(open)).to.throw('SERVICE_AUTH_DISABLED');
  });

  it('refuses to start while ops/deploy/env.example is not filled in', () => {
    expect(() => loadServerConfig(interpolate(compose.services.api?.environment, readExample()))).to.throw('AUTH_SECRET: is missing');
    for (const name of ['AUTH_SECRET', 'SERVICE_TOKEN', 'SMTP_URL', 'DATABASE_URL']) {
      const lacking = interpolate(compose.services.api?.environment, { ...filledIn, [name]: '', DATABASE_PASSWORD: '' });
      expect(() => loadServerConfig(lacking), name).to.throw(`${name}: `);
    }
  });

  it('names in ops/deploy/env.example only what docker-compose.yml uses', () => {
    const used = readFileSync('docker-compose.yml', 'utf8');
    const named = Object.keys(readExample());
    expect(named).to.include.members(Object.keys(filledIn));
    expect(named.filter((name) => !used.includes(`\${${name}:`))).to.deep.equal([]);
  });
});

describe('the dynamic configuration of Temporal', () => {
  const settings: Record<string, { value: unknown }[]> = parse(readFileSync('ops/deploy/dynamicconfig/sheaf.yaml', 'utf8'));

  it('turns fairness between organizations on, and finds dead connections soon', () => {
    expect(settings).to.deep.include({
      'matching.useNewMatcher': [{ value: true }],
      'matching.enableFairness': [{ value: true }],
      'matching.numTaskqueueWritePartitions': [{ value: 1 }],
      'frontend.keepAliveTime': [{ value: '10s' }],
      'frontend.keepAliveTimeout': [{ value: '5s' }],
    });
    const { environment, volumes } = compose.services.temporal ?? {};
    expect(volumes).to.include(`./ops/deploy/dynamicconfig:${dirname(environment?.DYNAMIC_CONFIG_FILE_PATH ?? '')}:ro`);
  });

  it('tells its vendor nothing', () => {
    expect(settings['frontend.enableServerVersionCheck']).to.deep.equal([{ value: false }]);
    expect(compose.services['temporal-ui']?.environment).to.include({ TEMPORAL_NOTIFY_ON_NEW_VERSION: 'false' });
  });

  it('is also that of npm start', () => {
    const given = Object.entries(settings).map(([name, [setting]]) => `${name}=${JSON.stringify(setting?.value)}`);
    expect(dynamicSettings).to.have.members(given);
  });
});

/** The tag of the image that a service has by default. */
const versionOf = (service: Service | undefined) => /:([\d.]+)\}$/.exec(service?.image ?? '')?.[1];

/** The files that a file imports by a relative path, types left out. */
function importsOf(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*?'(\.\.?\/[^']+)';/gms);
  return [...imports].map(([, path = '']) => join(dirname(file), path));
}

/** As compose reads an .env file: lines of NAME=value, quotes taken off. */
function readExample(): Environment {
  const lines = readFileSync('ops/deploy/env.example', 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value.replace(/^"(.*)"$/, '$1')]));
}

/** What a reader of made secrets finds, by the names of the files. */
function readMade(directory: string): Environment {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8').trim()]));
}

/** The variables that a program gets by ops/deploy/with-secrets.sh. */
function runWithSecrets(directory: string, env: Environment): Environment {
  const script = readFileSync('ops/deploy/with-secrets.sh', 'utf8').replace('/run/made', directory);
  const { stdout } = spawnSync('sh', ['-c', script, 'sh', 'env', '-0'], { env: { PATH: inheritedEnvironment().PATH, ...env } });
  const lines = String(stdout).split('\0').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** As compose fills in `${NAME:-default}` and `${NAME:+value}`, one inside of another. */
function interpolate(environment: Environment | undefined, env: Environment): Environment {
  return Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, fill(String(value), env)]));
}

function fill(text: string, env: Environment): string {
  const start = text.indexOf('${');
  if (start < 0) return text;
  const end = closingBrace(text, start + 2);
  const [, name = '', sign = '', fallback = ''] = /^(\w+):([-+])(.*)$/s.exec(text.slice(start + 2, end)) ?? [];
  const value = sign === '+' ? env[name] && fill(fallback, env) : env[name] || fill(fallback, env);
  return text.slice(0, start) + (value ?? '') + fill(text.slice(end + 1), env);
}

/** The index of the brace that closes what is open at an index. */
function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let index = from; index < text.length; index++) {
    if (text[index] === '{') depth++;
    if (text[index] === '}' && --depth === 0) return index;
  }
  throw new Error(`A brace is not closed: ${text}`);
}

/** The variables in the table of a section of docs/configuration.md. */
function documented(title: string): string[] {
  const [section = ''] = new RegExp(`^## ${title}$.*?(?=^## )`, 'ms').exec(readFileSync('docs/configuration.md', 'utf8')) ?? [];
  const cells = [...section.matchAll(/^\| (`[A-Z][^|]*) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name));
}
