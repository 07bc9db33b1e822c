import { expect } from 'chai';
import { contentTypeOf, contentTypesByExtension } from '../../clients/typescript/index.ts';
import { contentTypes, extraContentTypes } from '../../contract/content-types.ts';

describe('The content types that the client knows by extension', () => {
  it('are all that services take', () => {
    expect([...new Set(Object.values(contentTypesByExtension))]).to.have.members([...contentTypes, ...extraContentTypes]);
  });

  it('are found whatever the path and the case, and not for other names', () => {
    expect(contentTypeOf('a.b/Report.PDF')).to.equal('application/pdf');
    expect(contentTypeOf('C:\\notes\\x.md')).to.equal('text/markdown');
    for (const name of ['pdf', 'archive.zip', 'folder.pdf/none', 'x.', '.constructor', 'a.toString']) {
      expect(contentTypeOf(name), name).to.equal(undefined);
    }
  });
});
