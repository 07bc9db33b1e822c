import { expect } from 'chai';
import { saysTooLong } from '../../ai/says-too-long.ts';

const tooLong = "This model's maximum context length is 512 tokens.";

describe('A refusal of a remote model', () => {
  it('says that a text is too long, wherever servers say it', () => {
    for (const body of [
      { error: tooLong },
      { error: { message: tooLong, type: 'BadRequestError' } },
      { error: { message: 'Please reduce your prompt.', code: 'context_length_exceeded' } },
      { error: { code: 400, message: 'It does not fit.', type: 'exceed_context_size_error' } },
      { object: 'error', message: tooLong, code: 400 },
      { detail: tooLong },
      { detail: [{ type: 'value_error', loc: ['body', 'input'], msg: 'inputs must have less than 512 tokens', input: 'A text.' }] },
      { object: 'error', message: { detail: [{ msg: tooLong }] } },
      [{ error: { message: tooLong } }],
      tooLong,
    ])
      expect(saysTooLong(422, JSON.stringify(body)), JSON.stringify(body)).to.equal(true);
    for (const body of [tooLong, `<h1>${tooLong}</h1>`]) expect(saysTooLong(400, body), body).to.equal(true);
  });

  it('does not say so with the words of the text that it quotes', () => {
    const quoted = { type: 'string_type', loc: ['body', 'model'], msg: 'Input should be a valid string' };
    for (const body of [
      { detail: [{ ...quoted, input: { model: null, input: [tooLong] } }] },
      { detail: [{ ...quoted, ctx: { input: tooLong } }] },
      { error: { message: 'No such model.', param: tooLong } },
      { request: { messages: [{ content: tooLong }] }, message: 'No such model.' },
      { error: `No such model. ${'word '.repeat(200)}${tooLong}` },
      {},
      null,
      400,
    ])
      expect(saysTooLong(422, JSON.stringify(body)), JSON.stringify(body)).to.equal(false);
    expect(saysTooLong(422, `No such model. ${'word '.repeat(200)}${tooLong}`)).to.equal(false);
    expect(saysTooLong(422, `${'{"error":'.repeat(5_000)}"${tooLong}"${'}'.repeat(5_000)}`)).to.equal(false);
  });
});
