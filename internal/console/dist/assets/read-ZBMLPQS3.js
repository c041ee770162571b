import{c as a,d as b}from"/console/assets/chunk-IRGYZVNL.js";import"/console/assets/chunk-SYN4ALO4.js";import"/console/assets/chunk-635GJV52.js";export{b as read,a as signedBody};
