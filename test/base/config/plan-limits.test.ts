import { expect } from 'chai';
import { findProblems } from '../../../base/config/environment.ts';
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

  it('are each set by PLANS, and stay as they are without', () => {
    const limits = (from: number) => ({ workspaces: from, members: from + 1, aiCredits: from + 2, storageBytes: from + 3 });
    const all = { free: limits(0), pro: limits(10), team: limits(20) };
    expect(plansOf(all)).to.deep.equal(all);
    expect(plansOf({ pro: { members: 30 } })).to.deep.equal({ ...plansOf({}), pro: { ...plansOf({}).pro, members: 30 } });
    expect(plansOf({ team: { members: 2_147_483_647 } }).team.members).to.equal(2_147_483_647);
  });

  it('are refused by their names', () => {
    for (const [given, problem] of [
      ['free', 'must be JSON, such as {'],
      ['[]', 'Invalid input: expected object, received array'],
      [{ team: { members: 2_147_483_648 } }, 'team.members must be at most 2147483647'],
      [{ pro: { workspaces: -1 } }, 'pro.workspaces must be at least 0'],
      [{ pro: { storageBytes: '5' } }, 'pro.storageBytes must be a whole number'],
      [{ pro: { aiCredits: 1.5 } }, 'pro.aiCredits must be a whole number'],
      [{ free: { credits: 5 } }, 'free Unrecognized key: "credits"'],
      [{ gold: {} }, 'Unrecognized key: "gold"'],
    ] as const) {
      const text = typeof given === 'string' ? given : JSON.stringify(given);
      const [found = '', ...more] = findProblems(() => loadServerConfig({ ...environment, PLANS: text }));
      expect(found, text).to.include(`PLANS: ${problem}`);
      expect(more, text).to.deep.equal([]);
    }
  });
});

const plansOf = (plans: object) => loadServerConfig({ ...environment, PLANS: JSON.stringify(plans) }).plans;
