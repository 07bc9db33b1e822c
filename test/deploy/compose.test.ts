import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { loadAiServiceConfig } from '../../config/ai-service.ts';
import type { Environment } from '../../config/environment.ts';
import { loadServerConfig } from '../../config/server.ts';
import { variables } from '../../config/variables.ts';
import { memoryEnvironment, memoryFlags } from '../../local/services.ts';

interface Service {
  image: string;
  command?: string[];
  environment?: Environment;
  volumes?: string[];
}

const compose: { services: Record<string, Service> } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
const own = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('sheaf:'));

describe('docker-compose.yml', () => {
  it('gives each program only variables that it reads', () => {
    expect(own.map(([name]) => name)).to.have.members(['api', 'worker', 'ai']);
    for (const [name, { environment }] of own) {
      const known = name === 'ai' ? variables.aiService : variables.server;
      expect(known, name).to.include.members(Object.keys(environment ?? {}));
    }
  });

  it('runs the main file of each program, with the flags that hold memory low', () => {
    for (const [name, { command }] of own) {
      expect(command).to.deep.equal(['node', ...(name === 'ai' ? [] : memoryFlags), `${name}/main.ts`]);
    }
    const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
    const image = /^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '';
    expect(JSON.parse(image)).to.deep.equal(['node', ...memoryFlags, 'api/main.ts']);
    const set = /^ENV (.*)$/m.exec(dockerfile)?.[1]?.split(' ') ?? [];
    expect(set).to.include.members(Object.entries(memoryEnvironment).map(([name, value]) => `${name}=${value}`));
  });

  it('puts into the image just the folders that the programs import', () => {
    const files = new Set(['api', 'worker', 'ai', 'ops'].map((name) => `${name}/main.ts`));
    for (const file of files) for (const imported of importsOf(file)) files.add(imported);
    const needed = new Set([...files].map((file) => file.split('/')[0]));
    const held = readFileSync('deploy/Dockerfile.dockerignore', 'utf8').matchAll(/^!([a-z]+)$/gm);
    // The bundle is made of workflows/index.ts, which no file imports.
    expect([...held].map(([, folder]) => folder)).to.have.members([...needed, 'workflows'].filter((one, i, all) => all.indexOf(one) === i));
  });

  it('mounts only files that there are', () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] ?? ''));
    expect(mounted.filter((path) => path.startsWith('./') && !existsSync(path))).to.deep.equal([]);
  });

  it('configures programs that boot, once deploy/env.example is filled in', () => {
    const filledIn = {
      POSTGRES_PASSWORD: 'a1b2c3',
      AUTH_SECRET: '0123456789abcdef'.repeat(4),
      SERVICE_TOKEN: 'b'.repeat(64),
      SMTP_URL: 'smtp://mail',
    };
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

  it('refuses to start while deploy/env.example is not filled in', () => {
    expect(() => interpolate(compose.services.api?.environment, readExample())).to.throw('must be set');
  });

  it('names in deploy/env.example only what docker-compose.yml uses', () => {
    const used = readFileSync('docker-compose.yml', 'utf8');
    expect(Object.keys(readExample()).filter((name) => !used.includes(`\${${name}:`))).to.deep.equal([]);
  });
});

describe('the dynamic configuration of Temporal', () => {
  it('turns fairness between organizations on', () => {
    const settings = parse(readFileSync('deploy/dynamicconfig/sheaf.yaml', 'utf8'));
    expect(settings).to.deep.equal({
      'matching.useNewMatcher': [{ value: true }],
      'matching.enableFairness': [{ value: true }],
      'matching.numTaskqueueWritePartitions': [{ value: 1 }],
    });
    expect(compose.services.temporal?.environment?.DYNAMIC_CONFIG_FILE_PATH).to.equal('config/dynamicconfig/sheaf.yaml');
  });
});

/** The files that a file imports by a relative path, types left out. */
function importsOf(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*?'(\.\.?\/[^']+)';/gms);
  return [...imports].map(([, path = '']) => join(dirname(file), path));
}

/** As compose reads an .env file: lines of NAME=value, quotes taken off. */
function readExample(): Environment {
  const lines = readFileSync('deploy/env.example', 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value.replace(/^"(.*)"$/, '$1')]));
}

/** As compose fills in `${NAME:-default}` and `${NAME:?}`. */
function interpolate(environment: Environment | undefined, env: Environment): Environment {
  const fill = (text: string) =>
    text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, sign: string, fallback: string) => {
      if (sign === '?' && !env[name]) throw new Error(`${name} must be set`);
      return env[name] || fallback;
    });
  return Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, fill(String(value))]));
}
