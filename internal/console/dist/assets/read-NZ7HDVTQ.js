import{c as a,d as b}from"/console/assets/chunk-2AVHDEEO.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-C7FSYNRY.js";export{b as read,a as signedBody};
