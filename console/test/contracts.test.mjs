// Interfaces of contracts: added, mistakes at their field, read by approvers, deleted.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';

import { accessible, closed, consoleUrl, erc20, ethereum, furnish, picture, signIn, signTransaction, storeName, useBrowser, useServer } from './lib.mjs';

const dollar = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const transfer = { type: 'function', name: 'transfer', inputs: [{ name: 'to', type: 'address' }, { name: 'value', type: 'uint256' }], outputs: [{ name: '', type: 'bool' }], stateMutability: 'nonpayable' };

describe(`contract interfaces on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  before(async () => {
    org = await furnish(held, ['Ada', 'Bob']);
  });

  it('adds one, says what is wrong with others, and deletes it', async () => {
    const page = await browser.open();
    const dialog = page.getByRole('dialog');
    await signIn(page, held.dev, held.rootKey, 'organization');
    await page.getByText('No contract interface yet').waitFor();
    await page.getByRole('button', { name: 'Add contract interface' }).click();
    const add = dialog.getByRole('button', { name: 'Add contract interface' });
    await dialog.getByLabel('Contract name').fill('Dollar <b>coin</b>');
    await dialog.getByLabel('Address of the contract').fill('0x12');
    await dialog.getByText('does not look like an address of Ethereum').waitFor();
    await dialog.getByLabel('Address of the contract').fill(dollar);
    await dialog.getByText('does not look like').waitFor({ state: 'detached' });
    const abi = dialog.getByLabel('ABI');
    for (const [wrong, said] of [
      ['{"abi":[]}', 'send only its member abi'],
      ['[{"type":"function","name":"transfer"}]', 'inputs is missing'],
    ]) {
      await abi.fill(wrong);
      await add.click();
      await dialog.locator('.problem').getByText(said).waitFor();
      assert.equal(await abi.getAttribute('aria-invalid'), 'true');
    }
    // A compiler's file has the interface among other things.
    const file = join(held.place.data, 'Dollar.json');
    writeFileSync(file, JSON.stringify({ contractName: 'Dollar', abi: [transfer], bytecode: '0x' }));
    await dialog.locator('input[type=file]').setInputFiles(file);
    await dialog.getByText('transfer(address,uint256)').waitFor({ state: 'attached' });
    await dialog.getByLabel('Decimals, of a token').fill('six');
    await add.click();
    await dialog.locator('.problem').getByText('whole number from 0 to 255').waitFor();
    await accessible(page, 'add contract interface');
    await picture(page, 'contract-create', false);
    await dialog.getByLabel('Decimals, of a token').fill('6');
    await dialog.getByLabel('Symbol, of a token').fill('USDC');
    await add.click();
    await page.getByText('USDC, 6 decimals').waitFor();
    await page.getByText('Dollar <b>coin</b>').waitFor();
    await closed(page);
    await accessible(page, 'contract interfaces');

    // Approvers read amounts by it.
    const { Ada, Bob } = org.people;
    await signTransaction(Ada, org.ethereum, ethereum({ to: dollar, data: erc20('transfer', org.ethereum, 2_500_000n), gas: 60000 }));
    const approver = await browser.open();
    await signIn(approver, held.dev, Bob.key);
    await approver.locator('li[data-activity]').getByText('2.5 USDC').first().waitFor();

    for (const [look, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['phone', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }]]) {
      const looker = await browser.open(options);
      await signIn(looker, held.dev, held.rootKey, 'organization');
      await looker.getByText('USDC, 6 decimals').waitFor();
      assert.equal(await looker.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, look);
      await accessible(looker, `contract interfaces, ${look}`);
      await picture(looker, `contracts-${look}`);
      if (look === 'phone') {
        await looker.getByRole('button', { name: 'Add contract interface' }).click();
        await looker.getByRole('dialog').getByLabel('Kind of contract').selectOption('Solana');
        await looker.getByRole('dialog').getByLabel('IDL').fill('{}');
        await picture(looker, 'contract-create-phone', false);
      }
      await looker.context().close();
    }

    await page.getByRole('button', { name: 'Delete Dollar' }).click();
    await dialog.getByText('From then on calls of this contract').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No contract interface yet').waitFor();
  });
});
