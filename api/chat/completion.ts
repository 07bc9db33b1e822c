import type { Contract } from '../../contract/index.ts';
import type { RouteOutput } from '../../contract/route.ts';
import { countCharacters } from '../../domain/characters.ts';
import { escapeMarkdown } from './escape-markdown.ts';

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

/** What a completion says beside the answer: the address of a citation, and the question for its `usage`. */
interface Told {
  urlOf(citation: Annotation['citation']): string;
  question: string;
}

/** The answer as a `chat.completion`. */
export function toCompletion(head: CompletionHead, answer: Answer, { urlOf, question }: Told): object {
  const parts = toParts(answer, urlOf);
  const message = {
    role: 'assistant',
    content: parts.map(({ content }) => content).join(''),
    refusal: null,
    annotations: parts.flatMap(({ annotations }) => annotations),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  return { ...head, object: 'chat.completion', choices, usage: usageOf(question, message.content), answer };
}

/** The answer as a series of `chat.completion.chunk`, a sentence in each; with `usage` in one more at the end if that is asked for. */
export function toChunks(head: CompletionHead, answer: Answer, { urlOf, question, usage }: Told & { usage: boolean }): object[] {
  const common = { ...head, object: 'chat.completion.chunk', ...(usage ? { usage: null } : {}) };
  const chunk = (delta: object, finish: 'stop' | null) => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const parts = toParts(answer, urlOf);
  const said = parts.map(({ content }) => content).join('');
  // Clients of OpenAI put the lists of chunks together by this number.
  let index = 0;
  const numbered = ({ content, annotations }: Part) => ({ content, annotations: annotations.map((each) => ({ index: index++, ...each })) });
  return [
    chunk({ role: 'assistant', content: '', refusal: null }, null),
    ...parts.map((part) => chunk(numbered(part), null)),
    { ...chunk({}, 'stop'), answer },
    ...(usage ? [{ ...common, choices: [], usage: usageOf(question, said) }] : []),
  ];
}

function toParts(answer: Answer, urlOf: Told['urlOf']): Part[] {
  if (answer.sentences.length === 0) return [{ content: answer.withheld > 0 ? deleted : nothing, annotations: [] }];
  let passed = 0;
  const parts = answer.sentences.map(({ text: quoted, citations }, index) => {
    const text = escapeMarkdown(quoted);
    const content = index === 0 ? text : `\n\n${text}`;
    const end = passed + countCharacters(content);
    const place = { start_index: end - countCharacters(text), end_index: end };
    passed = end;
    const annotations = citations.map((citation) => ({
      ...{ type: 'url_citation' as const, citation },
      url_citation: { url: urlOf(citation), title: citation.documentName, ...place },
    }));
    return { content, annotations };
  });
  const draft = answer.draft && {
    content: `\n\nUnchecked, in the words of the model: ${escapeMarkdown(answer.draft.text)}`,
    annotations: [],
  };
  return draft ? [...parts, draft] : parts;
}

const charactersPerToken = 4;

/** Clients of the protocol expect tokens. They are estimated: nothing is charged by them. */
function usageOf(question: string, content: string) {
  const [asked, said] = [question, content].map((text) => Math.ceil(countCharacters(text) / charactersPerToken)) as [number, number];
  return { prompt_tokens: asked, completion_tokens: said, total_tokens: asked + said };
}

/** The texts of a message without sentences, since a front end may show nothing but the message. */
const nothing = 'Nothing in the documents responds to this.';
const deleted = 'What responds to this is no longer shown: its documents were deleted.';
