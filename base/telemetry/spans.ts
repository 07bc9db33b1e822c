import { type Context, context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent } from './trace-parent.ts';

/** Ids, names and counts. Never contents, parameters of statements, links, or messages of errors. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A span that was made elsewhere, in the sandbox of the workflows. */
export interface EndedSpan {
  name: string;
  /** The parent of the span. */
  traceparent: string;
  spanId: string;
  /** As `Date.now()`. */
  startMs: number;
  endMs: number;
  failed: boolean;
  attributes: SpanAttributes;
}

/** `server`: serves a request; `client`: waits for another service; `producer` and `consumer`: hands over work, and does it later. */
type Kind = 'server' | 'client' | 'producer' | 'consumer';

interface SpanOptions {
  kind?: Kind;
  attributes?: SpanAttributes;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER };

/** Undefined while nothing is traced: then the functions below do no more than the work that they are given. */
let tracer: Tracer | undefined;

/** Has spans made by a tracer from now on. */
export function setTracer(made: Tracer | undefined): void {
  tracer = made;
}

/** A span that has begun and is to be ended. */
export class OpenSpan {
  readonly #span: Span;
  readonly #context: Context;

  constructor(span: Span, parent: Context) {
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  /** Does work as a part of the span. */
  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  note(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  /** Ends it as failed, with only the kind of the error: its message may quote contents. */
  fail(error: unknown): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.setAttribute('error.type', typeOf(error));
    this.#span.end();
  }

  end(): void {
    this.#span.end();
  }
}

/** Whether this belongs to a recorded trace. If not, descriptions of spans need not be computed. */
export function isTraced(): boolean {
  return currentTraceId() !== undefined;
}

/** Begins a span of the trace that this is a part of; undefined if it is of none. */
export function beginSpan(name: string, options: SpanOptions = {}): OpenSpan | undefined {
  if (!tracer || !trace.getActiveSpan()) return undefined;
  return open(tracer, name, options, context.active());
}

/** Begins a span of the trace that a client's header names, or of a new trace; undefined while nothing is traced. */
export function beginTrace(name: string, traceparent: string | undefined, options: SpanOptions = {}): OpenSpan | undefined {
  return tracer && open(tracer, name, options, contextOf(traceparent));
}

/** Does work in a span of the trace that this is a part of. */
export async function inSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const span = beginSpan(name, options);
  if (!span) return await work();
  try {
    const result = await span.run(work);
    span.end();
    return result;
  } catch (error) {
    span.fail(error);
    throw error;
  }
}

/** Does work as a part of the trace that was noted, or of none. */
export function continueTrace<T>(traceparent: string | null | undefined, work: () => T): T {
  return tracer ? context.with(contextOf(traceparent), work) : work();
}

/** Where this is in its trace, for {@link continueTrace} somewhere else; undefined if it is in none. */
export function currentTraceparent(): string | undefined {
  const span = tracer && trace.getActiveSpan();
  return span && formatTraceparent(span.spanContext());
}

/** The trace that this is a part of, if it is recorded. */
export function currentTraceId(): string | undefined {
  const parent = tracer && trace.getActiveSpan()?.spanContext();
  return parent && (parent.traceFlags & 1) === 1 ? parent.traceId : undefined;
}

function open(by: Tracer, name: string, { kind, attributes = {} }: SpanOptions, parent: Context): OpenSpan {
  return new OpenSpan(by.startSpan(name, { attributes, ...(kind && { kind: kinds[kind] }) }, parent), parent);
}

function contextOf(traceparent: string | null | undefined): Context {
  const parent = parseTraceparent(traceparent);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** The code of an error that has one, else its kind. */
function typeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.constructor.name;
}
