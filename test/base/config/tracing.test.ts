import { expect } from 'chai';
import { loadAiServiceConfig } from '../../../base/config/ai-service.ts';
import { type Environment, findProblems } from '../../../base/config/environment.ts';
import { loadServerConfig } from '../../../base/config/server.ts';

const server = { DATABASE_URL: 'postgres://db/sheaf', AUTH_SECRET: 'another secret of a test' };
const programs = {
  'the API and the worker': (env: Environment) => loadServerConfig({ ...server, ...env }),
  'the AI service': (env: Environment) => loadAiServiceConfig({ SERVICE_TOKEN: 'a token', ...env }),
};
const samplers = 'always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio';

const wrong: [name: string, value: string, problem: string][] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be an http or https URL'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://collector:4317', 'must be an http or https URL'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://me:secret@collector', 'must not hold a name or a password'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a key', 'must be name=value, or several of them separated by commas'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=a,=b', 'must be name=value, or several of them separated by commas'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=100%', 'must have percent-encoded values'],
  ['OTEL_TRACES_SAMPLER', 'sometimes', `must be one of ${samplers}`],
  ['OTEL_TRACES_SAMPLER_ARG', 'a tenth', 'must be a number'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'must be at most 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '-0.1', 'must be at least 0'],
];

describe('The configuration of traces', () => {
  for (const [program, load] of Object.entries(programs)) {
    it(`of ${program} is taken`, () => {
      expect(load({}).tracing).to.deep.equal({
        endpoint: undefined,
        headers: {},
        sampler: { name: 'parentbased_always_on', ratio: 1 },
        batchDelayMs: 5_000,
      });
      const given = {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318/',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key,authorization=Bearer%20a%3Db',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      };
      expect(load(given).tracing).to.deep.equal({
        endpoint: 'https://collector:4318',
        headers: { 'x-key': 'a key', authorization: 'Bearer a=b' },
        sampler: { name: 'traceidratio', ratio: 0.25 },
        batchDelayMs: 5_000,
      });
    });

    for (const [name, value, problem] of wrong)
      it(`of ${program} is refused, by its name: ${name} is ${value}`, () => {
        expect(findProblems(() => load({ [name]: value }))).to.deep.equal([`${name}: ${problem}`]);
      });
  }
});
