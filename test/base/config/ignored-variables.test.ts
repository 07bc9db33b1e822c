import { expect } from 'chai';
import { warnOfIgnored } from '../../../base/config/ignored-variables.ts';
import { secretVariables } from '../../../base/config/secret-files.ts';
import { variables } from '../../../base/config/variables.ts';

describe('Settings that no program reads', () => {
  const ignoredOf = (env: Record<string, string>) => {
    const lines: unknown[] = [];
    warnOfIgnored(env, { warn: (fields: { ignored: string[] }) => void lines.push(fields.ignored) } as never);
    return lines;
  };

  it('are named in one line, without their values', () => {
    const env = {
      AI_METRICS_PORT: '1',
      REMOTE_AI_CHAT_KEY: 'secret',
      PLAN_FREE_MEMBERS: '3',
      WORKER_CONCURENCY: '4',
      STORAGE_BUCKET: 'b',
      STRIPE_OLD: ' ',
    };
    expect(ignoredOf(env)).to.deep.equal([['AI_METRICS_PORT', 'PLAN_FREE_MEMBERS', 'REMOTE_AI_CHAT_KEY', 'WORKER_CONCURENCY']]);
  });

  it('are none of those that are read, of other programs, or of Kubernetes', () => {
    const names = [
      ...Object.values(variables).flat(),
      ...secretVariables.map((name) => `${name}_FILE`),
      'PATH',
      'AWS_REGION',
      'NODE_OPTIONS',
    ];
    const ofKubernetes = ['AI_SERVICE_HOST', 'AI_SERVICE_PORT', 'AI_SERVICE_PORT_HTTP', 'AI_PORT_8000_TCP', 'AI_PORT_8000_TCP_ADDR'];
    expect(ignoredOf(Object.fromEntries([...names, ...ofKubernetes].map((name) => [name, 'x'])))).to.deep.equal([]);
  });
});
