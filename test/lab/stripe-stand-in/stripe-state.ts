import type { Form, Value } from './parse-form.ts';

type Row = Record<string, any>;

export interface StripeAnswer {
  status: number;
  body: unknown;
}

/** One event as Stripe sends it: a picture of the object at that time. */
export interface StripeEvent {
  id: string;
  type: string;
  data: { object: Row };
}

/** Money that moves, or that the next invoice moves: the items that it is for, as `price_pro × 1`. */
interface StripeCharge {
  customer: string;
  subscription: string;
  reason: 'checkout' | 'renewal' | 'change';
  items: string[];
}

const day = 86_400;
/** Stripe's search finds what is about a minute old. */
const searchLagSeconds = 60;
let ids = 0;

/**
 * What Stripe keeps, and how its objects change: by requests, and by the time that a test moves. Times are in seconds since 1970.
 */
export class StripeState {
  now = Math.floor(Date.now() / 1000);
  /** Called with each event as it happens. */
  onEvent?: ((event: StripeEvent) => void) | undefined;
  readonly customers = new Map<string, Row>();
  readonly subscriptions = new Map<string, Row>();
  readonly invoices = new Map<string, Row>();
  readonly sessions = new Map<string, Row>();
  readonly schedules = new Map<string, Row>();
  readonly charges: StripeCharge[] = [];
  readonly events: StripeEvent[] = [];

  answer(method: string, path: string, form: Form): StripeAnswer {
    const [, , noun = '', id, verb] = path.split('/');
    const route = `${method} ${noun}${id === undefined ? '' : noun === 'checkout' || noun === 'billing_portal' ? `/${id}` : '/:id'}`;
    switch (route) {
      case 'GET subscriptions':
        return list([...this.subscriptions.values()].filter(bySubscription(form)), form);
      case 'GET subscriptions/:id':
        return found(this.subscriptions.get(id ?? ''), 'subscription');
      case 'POST subscriptions/:id':
        return this.#change(id ?? '', (subscription) => this.#update(subscription, form));
      case 'DELETE subscriptions/:id':
        return this.#change(id ?? '', (subscription) => this.#end(subscription));
      case 'POST customers':
        return ok(this.#add(this.customers, 'cus', { object: 'customer', name: form.name ?? null, metadata: form.metadata ?? {} }));
      case 'GET customers':
        return list(
          [...this.customers.values()].filter(({ deleted }) => !deleted),
          form,
        );
      case 'GET customers/:id':
        return id === 'search' ? list(this.#search(String(form.query)), form) : found(this.customers.get(id ?? ''), 'customer');
      case 'POST customers/:id':
        return this.#changeCustomer(id ?? '', form);
      case 'DELETE customers/:id':
        return this.#deleteCustomer(id ?? '');
      case 'GET invoices':
        return list(
          [...this.invoices.values()].filter(
            ({ subscription, status }) => subscription === form.subscription && (form.status === undefined || status === form.status),
          ),
          form,
        );
      case 'GET invoices/:id':
        return found(this.invoices.get(id ?? ''), 'invoice');
      case 'GET prices/:id':
        return ok({ id, object: 'price', recurring: { usage_type: 'licensed' } });
      case 'POST checkout/sessions':
        return verb === undefined ? this.#checkout(form) : this.#expire(verb);
      case 'GET checkout/sessions':
        return verb === undefined
          ? list([...this.sessions.values()].filter(bySession(form)), form)
          : found(this.sessions.get(verb), 'session');
      case 'POST billing_portal/sessions':
        return ok({
          id: `bps_${++ids}`,
          object: 'billing_portal.session',
          url: `https://billing.example/bps_${ids}`,
          flow: form.flow_data ?? null,
        });
      case 'POST subscription_schedules':
        return this.#schedule(String(form.from_subscription));
      case 'GET subscription_schedules':
        return list([...this.schedules.values()], form);
      case 'GET subscription_schedules/:id':
        return found(this.schedules.get(id ?? ''), 'schedule');
      case 'POST subscription_schedules/:id':
        return verb === 'release' ? this.#release(id ?? '') : this.#changeSchedule(id ?? '', form);
      default:
        return { status: 404, body: { error: { message: `Nothing answers ${method} ${path}`, type: 'invalid_request_error' } } };
    }
  }

  /** A customer of an organization that is there already. */
  addCustomer(id: string, organizationId?: string): Row {
    const metadata = organizationId ? { organizationId, customerType: 'organization' } : {};
    const customer = { id, object: 'customer', name: null, metadata };
    this.customers.set(id, customer);
    return customer;
  }

  /** Begins a subscription, as a checkout that is paid or the dashboard does. */
  subscribe(values: {
    customer: string;
    prices: [price: string, quantity: number][];
    trialDays?: number;
    metadata?: Row;
    status?: string;
  }): Row {
    const { customer, prices, trialDays, metadata = {} } = values;
    const trialEnd = trialDays ? this.now + trialDays * day : null;
    const id = `sub_${++ids}`;
    const period = { current_period_start: this.now, current_period_end: trialEnd ?? this.now + 30 * day };
    const items = prices.map(([price, quantity]) => ({ ...this.#item(price, quantity), ...period }));
    const subscription = {
      ...{ id, object: 'subscription', customer, metadata, created: this.now, schedule: null },
      ...{ status: values.status ?? (trialEnd ? 'trialing' : 'active'), trial_start: trialEnd ? this.now : null, trial_end: trialEnd },
      ...{ cancel_at_period_end: false, cancel_at: null, canceled_at: null, ended_at: null },
      items: { object: 'list', data: items, has_more: false },
    };
    this.subscriptions.set(id, subscription);
    this.tell('customer.subscription.created', subscription);
    return subscription;
  }

  /** A customer pays at a checkout. Stripe takes no payment for one that has expired, or whose customer is deleted. */
  pay(sessionId: string): Row {
    const session = this.sessions.get(sessionId);
    if (session?.status !== 'open') throw new Error(`The checkout ${sessionId} is ${session?.status}`);
    if (this.customers.get(session.customer)?.deleted) throw new Error('The customer is deleted');
    const prices = session.line_items.map(({ price, quantity }: Row) => [price, Number(quantity ?? 1)]);
    const subscription = this.subscribe({ customer: session.customer, prices, metadata: session.subscription_data?.metadata ?? {} });
    Object.assign(session, { status: 'complete', payment_status: 'paid', subscription: subscription.id });
    this.#charge(subscription, 'checkout');
    this.tell('checkout.session.completed', session);
    return subscription;
  }

  /** Time goes on; nothing else happens by itself. */
  wait(days: number): void {
    this.now += days * day;
  }

  /** The period ends and the next one begins: paid, or not, which makes the subscription past due. */
  renew(id: string, paid = true): Row {
    const subscription = this.#get(id);
    const end = subscription.items.data[0].current_period_end;
    this.now = Math.max(this.now, end);
    const next = { current_period_start: end, current_period_end: end + 30 * day };
    subscription.items.data = subscription.items.data.map((item: Row) => ({ ...item, ...next }));
    const invoice = this.#invoice(subscription, { created: end, billing_reason: 'subscription_cycle', status: paid ? 'paid' : 'open' });
    if (paid) this.#charge(subscription, 'renewal');
    if (paid && subscription.status === 'trialing') subscription.status = 'active';
    this.tell('customer.subscription.updated', subscription);
    if (!paid) this.failPayment(invoice.id);
    return invoice;
  }

  /** An invoice in the middle of a period, or the first one, that is not paid. */
  charge(id: string, reason: string): void {
    const invoice = this.#invoice(this.#get(id), { created: this.now, billing_reason: reason, status: 'open' });
    this.failPayment(invoice.id);
  }

  failPayment(invoiceId: string): void {
    const invoice = this.invoices.get(invoiceId) ?? {};
    invoice.attempt_count = (invoice.attempt_count ?? 0) + 1;
    const subscription = this.#get(invoice.subscription);
    this.tell('invoice.payment_failed', invoice);
    if (subscription.status === 'past_due') return;
    subscription.status = 'past_due';
    this.tell('customer.subscription.updated', subscription);
  }

  /** Everything that is owed is paid. */
  recover(id: string): void {
    const subscription = this.#get(id);
    for (const invoice of this.invoices.values()) if (invoice.subscription === id && invoice.status === 'open') invoice.status = 'paid';
    subscription.status = 'active';
    this.tell('customer.subscription.updated', subscription);
  }

  /** Changes whatever the dashboard or the portal changes. */
  edit(id: string, change: (subscription: Row) => void): void {
    const subscription = this.#get(id);
    change(subscription);
    this.tell('customer.subscription.updated', subscription);
  }

  end(id: string): void {
    this.#end(this.#get(id));
  }

  tell(type: string, object: Row): void {
    const event = { id: `evt_${process.pid}_${++ids}`, type, data: { object: structuredClone(object) } };
    this.events.push(event);
    this.onEvent?.(event);
  }

  /** Somebody deletes a customer in the dashboard, which ends its subscriptions. */
  deleteCustomer(id: string): void {
    this.#deleteCustomer(id);
  }

  #get(id: string): Row {
    const subscription = this.subscriptions.get(id);
    if (!subscription) throw new Error(`There is no subscription ${id}`);
    return subscription;
  }

  #charge(subscription: Row, reason: StripeCharge['reason']): void {
    this.charges.push({ customer: subscription.customer, subscription: subscription.id, reason, items: billed(subscription) });
  }

  #add(rows: Map<string, Row>, prefix: string, values: Row): Row {
    const row = { id: `${prefix}_${++ids}`, created: this.now, ...values };
    rows.set(row.id, row);
    return row;
  }

  #item(price: string, quantity: number): Row {
    return {
      id: `si_${++ids}`,
      object: 'subscription_item',
      quantity,
      price: { id: price, object: 'price', recurring: { interval: 'month' } },
    };
  }

  #invoice(subscription: Row, values: Row): Row {
    const parent = { type: 'subscription_details', subscription_details: { subscription: subscription.id } };
    const url = { hosted_invoice_url: `https://invoice.example/${ids}` };
    const base = { object: 'invoice', ...url, customer: subscription.customer, subscription: subscription.id, parent };
    return this.#add(this.invoices, 'in', { ...base, ...values });
  }

  #change(id: string, change: (subscription: Row) => StripeAnswer | undefined): StripeAnswer {
    const subscription = this.subscriptions.get(id);
    if (!subscription || hasEnded(subscription)) return missing('subscription');
    return change(subscription) ?? ok(subscription);
  }

  #update(subscription: Row, form: Form): StripeAnswer | undefined {
    const ends = form.cancel_at_period_end !== undefined || form.cancel_at !== undefined;
    if (ends && subscription.schedule) return invalid(`The subscription is managed by the subscription schedule ${subscription.schedule}.`);
    if (form.cancel_at_period_end !== undefined) {
      subscription.cancel_at_period_end = form.cancel_at_period_end === 'true';
      subscription.canceled_at = subscription.cancel_at_period_end ? this.now : null;
    }
    if (form.cancel_at === '') subscription.cancel_at = null;
    const changes = (form.items ?? []) as Form[];
    const twice = changes.find(({ id, price }) => !id && subscription.items.data.some((item: Row) => item.price.id === price));
    if (twice) return invalid(`The subscription has an item with the price ${twice.price}.`);
    const before = billed(subscription);
    for (const change of changes) this.#updateItem(subscription, change);
    if (String(billed(subscription)) !== String(before)) this.#charge(subscription, 'change');
    this.tell('customer.subscription.updated', subscription);
    return undefined;
  }

  #updateItem(subscription: Row, change: Form): void {
    const { data } = subscription.items;
    const item = data.find((each: Row) => each.id === change.id);
    if (change.deleted === 'true') subscription.items.data = data.filter((each: Row) => each !== item);
    else if (item) {
      if (change.price !== undefined) item.price = { ...item.price, id: change.price };
      if (change.quantity !== undefined) item.quantity = Number(change.quantity);
    } else {
      const { current_period_start, current_period_end } = data[0];
      data.push({ ...this.#item(String(change.price), Number(change.quantity ?? 1)), current_period_start, current_period_end });
    }
  }

  #end(subscription: Row): undefined {
    Object.assign(subscription, { status: 'canceled', ended_at: this.now, canceled_at: subscription.canceled_at ?? this.now });
    this.tell('customer.subscription.deleted', subscription);
  }

  #changeCustomer(id: string, form: Form): StripeAnswer {
    const customer = this.customers.get(id);
    if (!customer || customer.deleted) return missing('customer');
    if (form.name !== undefined) customer.name = form.name;
    return ok(customer);
  }

  #deleteCustomer(id: string): StripeAnswer {
    const customer = this.customers.get(id);
    if (!customer || customer.deleted) return missing('customer');
    for (const subscription of this.subscriptions.values()) {
      if (subscription.customer === id && !hasEnded(subscription)) this.#end(subscription);
    }
    this.customers.set(id, { id, object: 'customer', deleted: true });
    return ok(this.customers.get(id));
  }

  #search(query: string): Row[] {
    const organizationId = /organizationId"\]:"([^"]+)"/.exec(query)?.[1];
    return [...this.customers.values()].filter(
      ({ deleted, metadata, created = 0 }) =>
        !deleted && metadata?.organizationId === organizationId && created + searchLagSeconds <= this.now,
    );
  }

  #checkout(form: Form): StripeAnswer {
    if (this.customers.get(String(form.customer))?.deleted) return missing('customer');
    const session = { ...form, object: 'checkout.session', status: 'open', payment_status: 'unpaid', subscription: null };
    const added = this.#add(this.sessions, 'cs', session);
    return ok(Object.assign(added, { url: `https://checkout.example/${added.id}` }));
  }

  #expire(id: string): StripeAnswer {
    const session = this.sessions.get(id);
    if (session?.status !== 'open') return invalid('Only open checkouts can be expired.');
    return ok(Object.assign(session, { status: 'expired' }));
  }

  #schedule(subscriptionId: string): StripeAnswer {
    const subscription = this.#get(subscriptionId);
    if (subscription.schedule) return invalid('You cannot migrate a subscription that is already attached to a schedule.');
    const item = subscription.items.data[0];
    const items = subscription.items.data.map(({ price, quantity }: Row) => ({ price: price.id, quantity }));
    const period = { start_date: item.current_period_start, end_date: item.current_period_end };
    const discounts = (subscription.discounts ?? []).map((discount: string) => ({ discount, coupon: null, promotion_code: null }));
    const phases = [{ items, ...period, trial_end: subscription.trial_end ?? null, discounts }];
    const base = { object: 'subscription_schedule', status: 'active', end_behavior: 'release', metadata: {} };
    const values = { ...base, subscription: subscriptionId, phases };
    const schedule = this.#add(this.schedules, 'sub_sched', values);
    subscription.schedule = schedule.id;
    return ok(schedule);
  }

  #changeSchedule(id: string, form: Form): StripeAnswer {
    const schedule = this.schedules.get(id);
    return schedule ? ok(Object.assign(schedule, form)) : missing('schedule');
  }

  #release(id: string): StripeAnswer {
    const schedule = this.schedules.get(id);
    if (!schedule) return missing('schedule');
    if (schedule.status !== 'active') return invalid(`A schedule that is ${schedule.status} cannot be released.`);
    const subscription = this.subscriptions.get(schedule.subscription);
    if (subscription) subscription.schedule = null;
    return ok(Object.assign(schedule, { status: 'released' }));
  }
}

function hasEnded({ status }: Row): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

/** Stripe lists what has not been canceled unless it is asked for all, or for one status. */
function bySubscription({ customer, status }: Form): (subscription: Row) => boolean {
  return (subscription) =>
    (customer === undefined || subscription.customer === customer) &&
    (status === 'all' || (status === undefined ? subscription.status !== 'canceled' : subscription.status === status));
}

function bySession({ customer, status }: Form): (session: Row) => boolean {
  return (session) => session.customer === customer && (status === undefined || session.status === status);
}

function list(rows: Row[], { limit, starting_after }: { limit?: Value; starting_after?: Value }): StripeAnswer {
  const start = starting_after === undefined ? 0 : rows.findIndex(({ id }) => id === starting_after) + 1;
  const data = rows.slice(start, start + Number(limit ?? 10));
  return ok({ object: 'list', data, has_more: start + data.length < rows.length });
}

/** What a subscription bills, as `price_pro × 1`. */
function billed({ items }: Row): string[] {
  return items.data.map(({ price, quantity }: Row) => `${price.id} × ${quantity}`).sort();
}

function invalid(message: string): StripeAnswer {
  return { status: 400, body: { error: { type: 'invalid_request_error', message } } };
}

function found(row: Row | undefined, noun: string): StripeAnswer {
  return row ? ok(row) : missing(noun);
}

function ok(body: unknown): StripeAnswer {
  return { status: 200, body };
}

function missing(noun: string): StripeAnswer {
  return { status: 404, body: { error: { code: 'resource_missing', message: `No such ${noun}`, type: 'invalid_request_error' } } };
}
