import{K as d,L as c,N as E}from"/assets/chunk-7OW5ZRH5.js";import{b as m,q as a,s,t as i,v as p}from"/assets/chunk-LHWEE3HG.js";var n=document.createElement("div");n.className="secret";document.getElementById("frame").append(n);var e=new p;i("export",{...e.handlers(),...e.overrides(),...E({main:n}),INJECT_KEY_EXPORT_BUNDLE:async o=>{let t=s(o,"keyFormat");d(t);let r=await c(await e.openExport(o),t);return await e.spend(),n.textContent=r,a},INJECT_WALLET_EXPORT_BUNDLE:async o=>{let[t,r]=m(await e.openExport(o)).split(`
`);return await e.spend(),n.textContent=r===void 0?t:`${t}

Passphrase: ${r}`,a}},()=>e.init());
