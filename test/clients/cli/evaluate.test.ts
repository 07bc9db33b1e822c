import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../../../clients/typescript/index.ts';
import { until } from '../../support/processes.ts';
import { noteText } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';
import { asOwner, type Cli, createCli } from './support.ts';

const texts = {
  'bees.md': 'Varroa mites are counted under the hive in August. A queen is marked with paint.',
  'dome.md': 'The dome of the observatory opens to the north. The mirror is washed on Mondays.',
  'lamp.md': 'The lamp of the lighthouse is lit at dusk.',
};

describe('sheaf evaluate', () => {
  const { api, tenant } = useApi({ check: 'at the end', env: { SEARCH_LIMIT_PER_MINUTE: '1000', ASK_LIMIT_PER_MINUTE: '1000' } });
  let cli: Cli;
  let lampId: string;
  let proxy: FaultyProxy;

  before(async () => {
    cli = createCli(asOwner(api, tenant));
    proxy = await startFaultyProxy(api.url);
    const client = createClient({ url: api.url, token: tenant.owner.token });
    for (const [name, text] of Object.entries(texts)) {
      noteText(text);
      const { id } = await api.upload(tenant, { name, bytes: text });
      const job = await client.jobs.create({ kind: 'document.index', documentId: id });
      await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
      lampId = id;
    }
  });
  after(async () => {
    cli.remove();
    await proxy.close();
  });

  const inFolder = (name: string) => join(cli.directory, name);
  function write(name: string, lines: (object | string)[]): string {
    writeFileSync(inFolder(name), lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
    return inFolder(name);
  }
  const evaluate = (file: string, ...args: string[]) => ['evaluate', file, '--workspace', 'main', ...args];
  const ofWay = (json: any[], way: string) => json.find((line) => line.way === way && !line.question);
  const questions = () => [
    { question: 'Where are varroa mites counted?', documents: ['bees.md'], answer: 'under THE\n hive' },
    { question: 'When is the mirror washed?', documents: ['dome.md', 'lamp.md'], answer: 'on Tuesdays' },
    { question: 'When is the lamp lit?', documents: [lampId] },
    // A search by words finds the lamp only.
    { question: 'lamp dusk lighthouse', documents: ['bees.md'] },
  ];

  it('tells how often each way finds what was expected, and what it cost', async () => {
    const { code, json, stderr } = await cli.run(evaluate(write('questions.jsonl', questions()), '--answers', 'lexical', '--json'));
    expect(code, stderr).to.equal(0);
    expect(json.map(({ way }) => way)).to.deep.equal(['semantic', 'lexical', 'hybrid', 'answers']);
    expect(ofWay(json, 'lexical')).to.deep.equal({
      ...{ way: 'lexical', hit1: 0.75, hit5: 0.75, mrr: 0.75, answered: null, found: null, credits: 0 },
    });
    // By meaning every document is found, the expected one of the last question not first.
    expect(ofWay(json, 'semantic')).to.include({ hit1: 0.75, hit5: 1, credits: 0 });
    expect(ofWay(json, 'semantic').mrr).to.be.within(0.8, 0.9);
    expect(ofWay(json, 'answers')).to.deep.equal({
      ...{ way: 'answers', hit1: 0.75, hit5: 0.75, mrr: 0.75, answered: 1, found: 0.5, credits: 12 },
    });
  });

  it('saves a run, and tells what has changed since one, by question', async () => {
    const file = write('before.jsonl', questions());
    const table = await cli.run(evaluate(file, '--save', inFolder('before.json')));
    expect(table.code, table.stderr).to.equal(0);
    const rows = table.stdout.split('\n');
    expect(rows[0]).to.match(/^ +hit@1 +hit@5 +MRR +answered +answer found +credits$/);
    expect(rows[2]).to.match(/^lexical +0\.750 +0\.750 +0\.750 +0$/);
    const saved = JSON.parse(readFileSync(inFolder('before.json'), 'utf8'));
    expect(saved.questions.map(({ question }: any) => question)).to.deep.equal(questions().map(({ question }) => question));
    expect(saved.questions[3].results.lexical).to.deep.equal({ rank: null, credits: 0 });
    const [bees, dome, ...rest] = questions();
    // The first is now found nowhere, and the last is; a new one changes no comparison.
    const later = [{ ...bees, documents: ['lamp.md'] }, dome, rest[0], { ...rest[1], documents: ['lamp.md'] }];
    const added = { question: 'queen', documents: ['dome.md'] };
    const { code, stdout } = await cli.run(
      evaluate(write('later.jsonl', [...later, added] as object[]), '--against', inFolder('before.json')),
    );
    expect(code).to.equal(0);
    expect(stdout).to.match(/^lexical +0\.600 +0\.600 +0\.600 +0$/m);
    expect(stdout).to.include('\nworse  lexical  1 → not found  Where are varroa mites counted?\n');
    expect(stdout).to.include('\nbetter  lexical  not found → 1  lamp dusk lighthouse\n');
    const { json } = await cli.run(
      evaluate(write('one.jsonl', [{ ...rest[1], documents: ['lamp.md'] }]), '--against', inFolder('before.json'), '--json'),
    );
    expect(ofWay(json, 'lexical').by).to.include({ hit1: 1, hit5: 1, mrr: 1, answered: null, credits: 0 });
    expect(json.filter(({ way, change }) => way === 'lexical' && change)).to.deep.equal([
      {
        ...{ question: 'lamp dusk lighthouse', way: 'lexical', change: 'better' },
        ...{ before: { rank: null, credits: 0 }, now: { rank: 1, credits: 0 } },
      },
    ]);
  });

  it('tells every bad line by its number, and asks nothing then', async () => {
    const [good = {}] = questions();
    const file = write('bad.jsonl', [
      good,
      '',
      '{"question": ',
      { question: ' ', documents: ['bees.md'] },
      { question: 'Which?', documents: [] },
      { ...good, answer: 7, question: 'How?' },
      { question: 'What?', documents: ['bees.md', 'wasps.md'] },
      good,
      { question: 'Who?', documents: ['bees.md'], answers: 'nobody' },
      '["Who?"]',
      { question: 'Who\nis there?', documents: ['bees.md'] },
      { question: '\u{1f41d}'.repeat(1001), documents: ['bees.md'] },
    ]);
    const { code, stdout, stderr } = await cli.run(evaluate(file));
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    const [head, ...lines] = stderr.trimEnd().split('\n');
    expect(head).to.equal('Error: These questions cannot be asked:');
    expect(lines.map((line) => line.trim())).to.satisfy(([broken]: string[]) => broken?.startsWith('line 3: '));
    expect(lines.slice(1).map((line) => line.trim())).to.deep.equal([
      'line 4: question is no line of at most 1000 characters',
      'line 5: documents is no list of ids or names',
      'line 6: answer is no text',
      'line 7: the workspace has no document wasps.md',
      'line 8: the same question as line 1',
      'line 9: there is no field answers',
      'line 10: question is no line of at most 1000 characters',
      'line 11: question is no line of at most 1000 characters',
      'line 12: question is no line of at most 1000 characters',
    ]);
    expect(await cli.run(evaluate(write('none.jsonl', ['', ' '])))).to.include({ code: 2 });
    expect(await cli.run(evaluate(write('ok.jsonl', [good]), '--save', inFolder('no/where.json')))).to.include({ code: 1, stdout: '' });
    const missing = inFolder('missing.jsonl');
    expect(await cli.run(evaluate(missing))).to.include({ code: 1, stderr: `Error: ${missing} is not there, or cannot be read.\n` });
    for (const notSaved of [inFolder('ok.jsonl'), write('hollow.json', [{ questions: [{ question: 'Who?' }] }])])
      expect(await cli.run(evaluate(inFolder('ok.jsonl'), '--against', notSaved))).to.include({ code: 2, stdout: '' });
  });

  it('takes a file of Windows, and counts the characters of a question as the service does', async () => {
    const [good] = questions();
    const bees = { question: `${good?.question} ${'\u{1f41d}'.repeat(900)}`, documents: ['bees.md'] };
    const file = write('windows.jsonl', [`\ufeff${JSON.stringify(good)}\r`, bees]);
    const { code, stderr } = await cli.run(evaluate(file));
    expect(code, stderr).to.equal(0);
  });

  it('knows a document by its name in either form of its accents', async () => {
    const composed = 'B\u00e4r.md';
    noteText('A bear sleeps in winter.');
    const { id } = await api.upload(tenant, { name: composed.normalize('NFD'), bytes: 'A bear sleeps in winter.' });
    const job = await createClient({ url: api.url, token: tenant.owner.token }).jobs.create({ kind: 'document.index', documentId: id });
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    const asked = { question: 'When does a bear sleep?', documents: [composed] };
    const { code, json, stderr } = await cli.run(evaluate(write('accents.jsonl', [asked]), '--answers', '--json'));
    expect(code, stderr).to.equal(0);
    expect(ofWay(json, 'lexical').hit1).to.equal(1);
    expect(ofWay(json, 'answers').hit1).to.equal(1);
  });

  it('has saved a run whose reader leaves', async () => {
    const saved = inFolder('unread.json');
    const { child, ended } = cli.start(evaluate(write('unread.jsonl', questions()), '--save', saved));
    child.stdout?.destroy();
    expect((await ended).code).to.equal(141);
    expect(JSON.parse(readFileSync(saved, 'utf8')).questions).to.have.length(4);
  });

  it('waits as long as the service asks', async () => {
    const file = write('questions.jsonl', questions());
    const unhindered = await cli.run(evaluate(file, '--json'));
    const refused = new Set<number>();
    proxy.faults = ({ path }) => {
      // Every third call is refused; more than four times one after the other a call may not be.
      if (!path.includes('search') || proxy.passed.length % 3 !== 0) return undefined;
      refused.add(proxy.passed.length);
      return { status: 429, headers: { 'retry-after': '1' } };
    };
    const began = Date.now();
    const { code, json, stderr } = await cli.run(evaluate(file, '--json'), { env: { SHEAF_URL: proxy.url } });
    expect(code, stderr).to.equal(0);
    expect(json).to.deep.equal(unhindered.json);
    expect(refused.size).to.be.greaterThan(2);
    expect(Date.now() - began).to.be.greaterThan(1_000);
  });

  it('ends at Ctrl-C, and stores nothing then', async () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ question: `mirror ${i}`, documents: ['dome.md'] }));
    const begun = proxy.passed.length;
    const searches = () => proxy.passed.slice(begun).filter(({ path }) => path.includes('search')).length;
    // The first five go through, and no other is answered.
    proxy.faults = ({ path }) => (path.includes('search') && searches() > 5 ? 'hold' : undefined);
    const file = evaluate(write('many.jsonl', many), '--save', inFolder('many.json'), '--concurrency', '3');
    const { child, ended } = cli.start(file, { env: { SHEAF_URL: proxy.url } });
    await until(async () => searches() >= 8);
    child.kill('SIGINT');
    expect(await ended).to.include({ code: 130, stdout: '', stderr: 'Interrupted.\n' });
    expect(searches()).to.equal(8);
    expect(existsSync(inFolder('many.json'))).to.equal(false);
  });
});

describe('sheaf evaluate with a remote model', () => {
  const { api, ai, tenant } = useApi({ ai: true });

  it('tells the credits that the ledger has', async () => {
    ai.provider = 'remote';
    const cli = createCli(asOwner(api, tenant));
    const client = createClient({ url: api.url, token: tenant.owner.token });
    const spent = async () => (await client.organizations.usage({ organizationId: tenant.organizationId })).usage.aiCredits;
    try {
      const { id } = await api.upload(tenant, { name: 'bees.md', bytes: texts['bees.md'] });
      const job = await client.jobs.create({ kind: 'document.index', documentId: id });
      await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
      const before = await spent();
      const file = join(cli.directory, 'questions.jsonl');
      writeFileSync(file, JSON.stringify({ question: 'Where are mites counted?', documents: ['bees.md'] }));
      const { code, json, stderr } = await cli.run(['evaluate', file, '--workspace', 'main', '--answers', '--json']);
      expect(code, stderr).to.equal(0);
      const told = json.map(({ credits }) => credits);
      expect(told.slice(0, 3)).to.deep.equal([1, 0, 1]);
      expect((await spent()) - before).to.equal(told.reduce((sum, credits) => sum + credits, 0));
    } finally {
      cli.remove();
    }
  });
});
