// A server that is sealed: people hand in their shares in the page, and then sign in.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { accessible, consoleUrl, initSealed, makeSeal, newKey, newPlace, picture, signIn, startSealed, storeName, useBrowser } from './lib.mjs';

describe(`unsealing on ${storeName}`, () => {
  const browser = useBrowser();
  const place = newPlace();
  const key = newKey();
  const other = mkdtempSync(join(tmpdir(), 'latchkey-seal-'));
  let organization;
  let foreign;
  let server;
  const shareOf = (file, line = 0) => readFileSync(file, 'utf8').split('\n')[line];
  const start = async (http) => {
    server = await startSealed(place, { http });
  };
  const dev = () => ({ baseUrl: server.baseUrl, organizationId: organization.organizationId });
  const open = async (options) => {
    const page = await browser.open(options);
    await page.goto(consoleUrl(dev()));
    await page.getByRole('heading', { name: 'The server is sealed' }).waitFor();
    return page;
  };
  const field = (page) => page.getByLabel('Your share');
  const handIn = async (page, share) => {
    await field(page).fill(share);
    await page.getByRole('button', { name: 'Hand in the share' }).click();
  };

  before(() => {
    organization = initSealed(place, key);
    foreign = makeSeal(other, 'strangers');
  });
  after(async () => {
    await server?.end();
    place.remove();
    rmSync(other, { recursive: true });
  });

  for (const [look, options] of [
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }],
  ]) {
    it(`takes shares and refuses others, ${look}`, async () => {
      await start(true);
      const [first, second] = organization.files;
      const page = await open(options);
      await page.getByText('0 of 2 shares').waitFor();
      await page.getByText('of the group board').waitFor();
      assert.match(await page.title(), /^Latchkey/);
      await accessible(page, `unseal, ${look}`);
      await picture(page, `unseal-${look}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);

      // The server's words are at the field, and the share is there to be mended.
      const words = shareOf(first).split(' ');
      for (const [wrong, said] of [
        [words.slice(1).join(' '), 'a share has 28 words, this has 27'],
        [shareOf(foreign.files[0]), 'none of this seal'],
      ]) {
        await handIn(page, wrong);
        await page.getByText(said).waitFor();
        assert.equal(await field(page).getAttribute('aria-invalid'), 'true');
        assert.equal(await field(page).inputValue(), wrong);
      }
      await accessible(page, `unseal with a wrong share, ${look}`);
      await picture(page, `unseal-wrong-${look}`);

      // What is typed is not readable, unless it is asked for.
      const covered = () => field(page).evaluate((f) => getComputedStyle(f).webkitTextSecurity);
      assert.equal(await covered(), 'disc');
      await page.getByLabel('Show what I type').check();
      assert.equal(await covered(), 'none');

      await handIn(page, words.join(' '));
      await page.getByText('Your share was taken').waitFor();
      await page.getByText('1 of 2 shares').waitFor();
      assert.equal(await field(page).inputValue(), '');
      assert.equal((await page.content()).includes(words.slice(0, 4).join(' ')), false, 'the share is still in the page');
      await handIn(page, shareOf(first, 1));
      await page.getByText('had been handed in before').waitFor();
      await page.getByText('1 of 2 shares').waitFor();
      await accessible(page, `unseal with one share, ${look}`);
      await picture(page, `unseal-one-${look}`);

      // The second person has another browser; both go on to the sign-in.
      const colleague = await open(options);
      await colleague.getByText('1 of 2 shares').waitFor();
      await colleague.locator('input[type=file]').setInputFiles(second);
      await colleague.getByRole('button', { name: 'Hand in the share' }).click();
      for (const who of [colleague, page]) await who.getByRole('heading', { name: 'Sign in' }).waitFor();
      await signIn(page, dev(), key);
      await server.stop();
    });
  }

  it('says when there were too many tries', async () => {
    await start(true);
    const page = await open();
    for (let tries = 1; tries <= 5; tries++) {
      await handIn(page, 'word '.repeat(tries));
      await page.getByText(`this has ${tries}`).waitFor();
    }
    await handIn(page, shareOf(organization.files[0]));
    await page.getByText('five shares a minute are taken').waitFor();
    await page.getByText('0 of 2 shares').waitFor();
    await server.end();
  });

  it('says what to do where shares are not taken over HTTP, and tells who is signed in', async () => {
    await start(true);
    const page = await open();
    await handIn(page, shareOf(organization.files[0]));
    await page.getByText('1 of 2 shares').waitFor();
    await handIn(page, shareOf(organization.files[2]));
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, dev(), key);
    const { port } = new URL(server.baseUrl);
    await server.stop();
    server = await startSealed(place, { http: false, port });
    await page.getByText('The server is sealed, and waits').waitFor();
    await page.getByRole('button', { name: 'Open the page for shares' }).click();
    await page.getByText('latchkey unseal').waitFor();
    await page.getByText('seal.http').waitFor();
    assert.equal(await field(page).count(), 0);
    await accessible(page, 'unseal elsewhere');
    await picture(page, 'unseal-off');
    const reply = await fetch(`${server.baseUrl}/latchkey/v1/unseal`, { method: 'POST', body: '{}' });
    assert.equal(reply.status, 503);
    await server.end();
  });
});
