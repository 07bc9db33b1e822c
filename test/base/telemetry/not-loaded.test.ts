import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);

/** Starts to trace with a configuration, as `main.ts` does, once the rest is loaded, and prints which packages of OpenTelemetry that took. */
const program = (endpoint: string | undefined) => `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const found = /node_modules\\/(@opentelemetry\\/[a-z-]+)/.exec(url);
      if (found) loaded.add(found[1]);
      return next(url, context);
    },
  });
  await import('./api/app.ts');
  await import('./worker/start-worker.ts');
  await import('./adapters/metrics/server-metrics.ts');
  const { startTracing } = await import('./base/telemetry/start-tracing.ts');
  const { loadServerConfig } = await import('./base/config/server.ts');
  const env = { DATABASE_URL: 'postgres://db/sheaf', AUTH_SECRET: 'a secret of a test', OTEL_EXPORTER_OTLP_ENDPOINT: ${JSON.stringify(endpoint)} };
  await startTracing(loadServerConfig(env).tracing, 'test', console);
  console.log(JSON.stringify([...loaded]));
  process.exit(0);
`;

async function loadedWith(endpoint: string | undefined): Promise<string[]> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program(endpoint)]);
  return JSON.parse(stdout);
}

describe("OpenTelemetry's SDK", () => {
  it('is not loaded while no collector is named', async () => {
    // Its interface is, which better-auth and the metrics load anyway.
    expect(await loadedWith(undefined)).to.have.members(['@opentelemetry/api']);
    expect(await loadedWith('http://127.0.0.1:1')).to.include('@opentelemetry/sdk-trace');
  });
});
