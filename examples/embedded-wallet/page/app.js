// What the page shows. What it does is in wallet.js.
import { logIn, sign, signUp } from './wallet.js';

const show = (id, text) => (document.getElementById(id).textContent = text);
const value = (id) => document.getElementById(id).value;

let wallet; // whose wallet is open: nothing in it is secret

function open(opened) {
  wallet = opened;
  show('name', wallet?.name ?? '');
  show('address', wallet?.address ?? '');
  show('signature', '');
  document.getElementById('outside').hidden = Boolean(wallet);
  document.getElementById('inside').hidden = !wallet;
}

// on runs an action when a form is sent, and shows what went wrong.
function on(id, action) {
  document.getElementById(id).addEventListener('submit', async (event) => {
    event.preventDefault();
    show('problem', '');
    try {
      await action();
    } catch (error) {
      show('problem', error.message.replace(/ \(Details: .*/s, '')); // those are for programs
    }
  });
}

on('sign-up', async () => open(await signUp(value('new-name'))));
on('log-in', async () => open(await logIn()));
on('log-out', () => open(undefined));
on('sign', async () => {
  show('signature', '');
  show('signature', await sign(wallet, value('message')));
});

document.body.dataset.ready = 'true';
