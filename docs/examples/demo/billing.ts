import { randomBytes } from 'node:crypto';
import { type Client, createClient, SheafError } from '../../../clients/typescript/index.ts';
import type { BillingService } from './billing-service.ts';
import type { Screen } from './screen.ts';

/** One step of the story: what the client asked, what happened at Stripe, what Stripe told the service, and what holds here then. */
export interface BillingStep {
  title: string;
  /** What the client asked, and what the service responded. */
  client: string[];
  /** What the service asked Stripe to do, and what the customer did there. */
  stripe: string[];
  /** Events, as `checkout.session.completed 200`. */
  events: string[];
  here: { plan: string | null; creditsUsed: number; creditsLimit: number | null };
}

const text = 'The lamp is lit at dusk. Oil is fetched by boat. The keeper sleeps by day.';

/** Takes an organization from the free plan to the largest one: used up, bought, used up, refused, upgraded. Throws if it goes otherwise. */
export async function runBillingDemo(service: BillingService, screen: Screen): Promise<BillingStep[]> {
  const story = await BillingStory.begin(service, screen);
  await story.step('The free plan has 5 credits a month, and a summary costs 5', async () => {
    await story.summarize();
    await story.isRefused();
  });
  await story.step('The owner buys the plan pro at a checkout', async () => {
    const { id } = await story.upgrade('pro');
    story.atStripe(`the customer pays at ${id}`);
    service.stripe.state.pay(id);
  });
  await story.step('Its 15 credits are used up, too', async () => {
    await story.summarize();
    await story.summarize();
    await story.isRefused();
  });
  await story.step('The owner upgrades to the plan team, which bills its members', async () => {
    await story.upgrade('team');
  });
  await story.step('The work goes on', () => story.summarize());
  return story.steps;
}

/** What the service asks Stripe to do, by how the request begins. */
const meanings: [begin: RegExp, meaning: string][] = [
  [/^POST \/v1\/customers /, 'a customer is made'],
  [/^POST \/v1\/customers\/\w+ /, "it gets its organization's name"],
  [/^POST \/v1\/checkout\/sessions /, 'a checkout begins'],
  [/^POST \/v1\/subscriptions\/\w+ /, 'the subscription changes at once'],
];

/** A request that changes something, in words; nothing for one that only asks. */
function describeRequest(request: string): string[] {
  const [changes] = /^(?:POST|DELETE) \S+/.exec(request) ?? [];
  const meaning = meanings.find(([begin]) => begin.test(request))?.[1];
  return changes === undefined ? [] : [meaning === undefined ? changes : `${changes}: ${meaning}`];
}

class BillingStory {
  readonly steps: BillingStep[] = [];
  readonly #service: BillingService;
  readonly #screen: Screen;
  readonly #client: Client;
  readonly #organizationId: string;
  #step: Pick<BillingStep, 'client' | 'stripe'> = { client: [], stripe: [] };

  private constructor({
    service,
    screen,
    client,
    organizationId,
  }: { service: BillingService; screen: Screen; client: Client; organizationId: string }) {
    this.#service = service;
    this.#screen = screen;
    this.#client = client;
    this.#organizationId = organizationId;
  }

  static async begin(service: BillingService, screen: Screen): Promise<BillingStory> {
    const { signal } = service;
    const client = createClient({ url: service.url });
    const slug = `demo-${randomBytes(6).toString('hex')}`;
    const password = randomBytes(24).toString('base64url');
    await client.auth.signUp({ name: 'Demo', email: `${slug}@example.com`, password }, { signal });
    const { id } = await client.auth.createOrganization({ name: 'Demo', slug }, { signal });
    return new BillingStory({ service, screen, client, organizationId: id });
  }

  /** Does a step, and tells of it once Stripe has told the service of it. */
  async step(title: string, act: () => Promise<void>): Promise<void> {
    const { stripe, sentEvents, signal } = this.#service;
    this.#step = { client: [], stripe: [] };
    const [requests, charges] = [stripe.requests.length, stripe.state.charges.length];
    this.#screen.heading(title);
    await act();
    const asked = stripe.requests.slice(requests).flatMap(describeRequest);
    const charged = stripe.state.charges.slice(charges).map(({ items }) => `the customer is charged for ${items.join(', ')}`);
    const events = (await sentEvents()).map(({ type, status }) => `${type} ${status}`);
    const organizationId = this.#organizationId;
    const { plan, limits, usage } = await this.#client.organizations.usage({ organizationId }, { signal });
    const here = { plan, creditsUsed: usage.aiCredits, creditsLimit: limits?.aiCredits ?? null };
    const step = { title, client: this.#step.client, stripe: [...asked, ...this.#step.stripe, ...charged], events, here };
    this.steps.push(step);
    this.#tell(step);
  }

  atStripe(line: string): void {
    this.#step.stripe.push(line);
  }

  async summarize(): Promise<void> {
    const { signal } = this.#service;
    const job = await this.#client.jobs.create({ kind: 'text.summarize', organizationId: this.#organizationId, text }, { signal });
    const { status } = await this.#client.waitForJob(job.id, { signal });
    if (status !== 'succeeded') throw new Error(`The job ${job.id} ${status}.`);
    this.#step.client.push(`POST /api/v1/jobs: 200, a summary for ${job.credits} credits`);
  }

  /** The same as `summarize`, when the credits are used up. */
  async isRefused(): Promise<void> {
    const error = await this.summarize().catch((reason: unknown) => reason);
    if (!(error instanceof SheafError) || !error.is('LIMIT_REACHED')) throw error ?? new Error('The plan has no limit.');
    const { kind, limit, plan } = error.data;
    this.#step.client.push(`POST /api/v1/jobs: ${error.status} LIMIT_REACHED, ${kind} ${limit} of the plan ${plan}`);
  }

  /** Returns the checkout, or what the service sends the customer to. */
  async upgrade(plan: 'pro' | 'team'): Promise<{ id: string }> {
    const { url, signal } = this.#service;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#client.auth.token}` };
    const body = JSON.stringify({ plan, referenceId: this.#organizationId });
    const answer = await fetch(`${url}/api/auth/subscription/upgrade`, { method: 'POST', headers, body, signal });
    const sold = (await answer.json()) as { id: string; url: string; message?: string };
    if (!answer.ok) throw new Error(`The plan ${plan} was not sold: ${answer.status} ${sold.message}`);
    this.#step.client.push(`POST /api/auth/subscription/upgrade: 200, the plan ${plan} at`, sold.url);
    return sold;
  }

  #tell({ client, stripe, events, here }: BillingStep): void {
    for (const [who, lines] of [
      ['Client', client],
      ['At Stripe', stripe],
      ['Webhook', events],
      ['Here', [`plan ${here.plan}, ${here.creditsUsed} of ${here.creditsLimit} credits used`]],
    ] as const) {
      for (const [index, line] of lines.entries()) this.#screen.line(`${(index === 0 ? who : '').padEnd(11)}${line}`);
    }
  }
}
