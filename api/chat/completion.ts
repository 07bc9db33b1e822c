import type { Contract } from '../../contract/index.ts';
import type { RouteOutput } from '../../contract/route.ts';
import { countCharacters } from '../../domain/characters.ts';

type Answer = RouteOutput<Contract['documents']['ask']>;

/** The fields that every part of a completion has. */
interface CompletionHead {
  id: string;
  /** In seconds. */
  created: number;
  model: string;
}

/** A citation in the protocol's form, with fields of this service. */
interface Annotation {
  type: 'url_citation';
  /** The part of the message that the citation supports, in characters. */
  url_citation: { url: string; title: string; start_index: number; end_index: number };
  citation: Answer['sentences'][number]['citations'][number];
}

interface Part {
  content: string;
  annotations: Annotation[];
}

/** The answer as a `chat.completion`. */
export function toCompletion(head: CompletionHead, answer: Answer, apiUrl: string): object {
  const parts = toParts(answer, apiUrl);
  const message = {
    role: 'assistant',
    content: parts.map(({ content }) => content).join(''),
    refusal: null,
    annotations: parts.flatMap(({ annotations }) => annotations),
  };
  return { ...head, object: 'chat.completion', choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }], answer };
}

/** The answer as a series of `chat.completion.chunk`, a sentence in each. */
export function toChunks(head: CompletionHead, answer: Answer, apiUrl: string): object[] {
  const chunk = (delta: object, finish: 'stop' | null) => ({
    ...{ ...head, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const sentences = toParts(answer, apiUrl).map((part) => chunk(part, null));
  return [chunk({ role: 'assistant', content: '', refusal: null }, null), ...sentences, { ...chunk({}, 'stop'), answer }];
}

function toParts(answer: Answer, apiUrl: string): Part[] {
  if (answer.sentences.length === 0) return [{ content: sayNothing(answer), annotations: [] }];
  let passed = 0;
  return answer.sentences.map(({ text, citations }, index) => {
    const content = index === 0 ? text : ` ${text}`;
    const end = passed + countCharacters(content);
    const place = { start_index: end - countCharacters(text), end_index: end };
    passed = end;
    const annotations = citations.map((citation) => ({
      ...{ type: 'url_citation' as const, citation },
      url_citation: { url: urlOf(citation, apiUrl), title: citation.documentName, ...place },
    }));
    return { content, annotations };
  });
}

/** The text of a message without sentences, since a front end may show nothing but the message. */
function sayNothing({ withheld }: Answer): string {
  if (withheld === 0) return 'Nothing in the documents responds to this.';
  return 'Nothing that the documents bear out was found.';
}

/** The address of the cited page's text. */
function urlOf({ documentId, page }: Annotation['citation'], apiUrl: string): string {
  return `${apiUrl}/api/v1/documents/${documentId}/text${page === null ? '' : `?page=${page}`}`;
}
