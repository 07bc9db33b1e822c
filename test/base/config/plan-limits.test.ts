import { expect } from 'chai';
import { loadServerConfig } from '../../../base/config/server.ts';

const environment = { DATABASE_URL: 'postgres://localhost/unused', AUTH_SECRET: 'a secret of at least thirty-two characters' };

describe('The limits of the plans', () => {
  it('are those of the specification by default', () => {
    expect(loadServerConfig(environment).plans).to.deep.equal({
      free: { workspaces: 3, members: 5, aiCredits: 50, storageBytes: 100_000_000 },
      pro: { workspaces: 20, members: 25, aiCredits: 2_000, storageBytes: 5_000_000_000 },
      team: { workspaces: 100, members: 250, aiCredits: 20_000, storageBytes: 50_000_000_000 },
    });
  });

  it('are each set by a variable of their own', () => {
    const names = ['WORKSPACES', 'MEMBERS', 'AI_CREDITS', 'STORAGE_BYTES'];
    const set = ['FREE', 'PRO', 'TEAM'].flatMap((plan, one) => names.map((name, other) => [`PLAN_${plan}_${name}`, `${10 * one + other}`]));
    expect(loadServerConfig({ ...environment, ...Object.fromEntries(set) }).plans).to.deep.equal({
      free: { workspaces: 0, members: 1, aiCredits: 2, storageBytes: 3 },
      pro: { workspaces: 10, members: 11, aiCredits: 12, storageBytes: 13 },
      team: { workspaces: 20, members: 21, aiCredits: 22, storageBytes: 23 },
    });
  });
});
