import { Tokenizer } from 'htmlparser2';

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];

/** Calls back for the tags and texts of HTML, with their indexes: in linear time, and without keeping open elements, unlike a parser. */
export function tokenizeHtml(html: string, callbacks: Partial<Callbacks>): void {
  const nothing = () => {};
  const none: Callbacks = {
    onopentagname: nothing,
    onclosetag: nothing,
    ontext: nothing,
    ontextentity: nothing,
    onselfclosingtag: nothing,
    onopentagend: nothing,
    onattribdata: nothing,
    onattribentity: nothing,
    onattribend: nothing,
    onattribname: nothing,
    oncdata: nothing,
    oncomment: nothing,
    ondeclaration: nothing,
    onprocessinginstruction: nothing,
    onend: nothing,
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, { ...none, ...callbacks });
  tokenizer.write(html);
  tokenizer.end();
}
