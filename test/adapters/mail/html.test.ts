import { expect } from 'chai';
import { toHtml } from '../../../adapters/mail/html.ts';

const style = { name: 'Ada & <Söhne>', origins: ['https://sheaf.example'] };
const html = (text: string, subject = 'Confirm your email address') => toHtml({ subject, text }, style);

describe('The HTML of a mail', () => {
  it('has the deployment’s name, each paragraph, and its link as a button and to be copied', () => {
    const url = 'https://sheaf.example/api/auth/verify-email?token=a.b-c_d&callbackURL=%2F';
    const made = html(`Open this link:\n\n${url}\n\nTwo\nlines\n`);
    expect(made).to.include('<p style="font-weight:600">Ada &#38; &#60;Söhne&#62;</p>');
    expect(made).to.include('<p>Open this link:</p>').and.include('<p>Two<br>lines</p>');
    const href = url.replace('&', '&#38;');
    expect(made).to.match(/<a href="[^"]*" style="[^"]*">Confirm your email address<\/a>/);
    expect(made.split(`href="${href}"`)).to.have.length(3);
    expect(made).to.include(`>${href}</a>`);
  });

  it('makes no link of what strangers wrote, and no markup', () => {
    const evil = ['https://evil.example/', 'https://sheaf.example@evil.example/', 'javascript:alert(1)', 'see https://sheaf.example/'];
    const made = html(`${evil.join('\n\n')}\n\n<img src=x onerror=alert(1)>"'`, '"><script>alert(1)</script>');
    expect(made).to.not.include('<a ');
    expect(made).to.not.match(/<(img|script)/);
    expect(made).to.include('&#60;img src=x onerror=alert(1)&#62;&#34;&#39;');
  });
});
